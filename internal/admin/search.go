package admin

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

const needsSupport = "Looking for people by phone number, e-mail address or name needs the role support."

// search finds things by their shape. The audit log gets what the text was taken for. Of a phone number or
// an e-mail address it also gets a keyed hash, and never the text.
func (e *edge) search(ctx context.Context, r *request, body SearchRequest) (any, error) {
	if n := utf8.RuneCountInString(body.Text); n == 0 || n > 200 {
		return nil, fault.New(fault.Invalid, `"text" must have 1 to 200 characters`)
	}
	asked := report.Ask(body.Text)
	if r.subject = asked.As; asked.Contact != "" {
		if err := r.by.May(operator.Support); err != nil {
			return nil, fault.New(fault.Forbidden, needsSupport).Because(err)
		}
		r.subject = asked.Contact + " " + e.Operators.Fingerprint(asked.Contact, asked.Normal())
	}
	if asked.HasNames && r.by.May(operator.Support) != nil {
		asked = asked.WithoutNames()
		asked.Note = needsSupport
	}
	hits, more, err := e.Reports.Search(ctx, asked)
	return Found{
		As: asked.As, Where: append([]string{}, asked.Where...), Note: wire.Optional(asked.Note), Hits: rows(hits, hitOf), More: more,
	}, err
}

func hitOf(h report.Hit) Hit {
	return Hit{Kind: h.Kind, Company: h.Company, ID: h.ID, Name: wire.Optional(h.Name), Amount: wire.Optional(h.Amount), CreatedAt: clock.Optional(h.At)}
}

// reveal shows what the other reads mask of a customer. The line in the audit log comes first.
func (e *edge) reveal(ctx context.Context, r *request, body RevealRequest) (any, error) {
	c, err := e.Reports.Contact(ctx, body.Company, body.CustomerID)
	if err != nil {
		return nil, err
	}
	if err := noNumber(body.Note, c.Phone); err != nil {
		return nil, err
	}
	if err := e.Operators.Reveal(ctx, r.by, body.Company, body.CustomerID, body.Reason, body.Note); err != nil {
		return nil, err
	}
	return Revealed{
		Company: body.Company, CustomerID: body.CustomerID, PhoneNumber: c.Phone, Email: c.Email, DateOfBirth: wire.Optional(c.Born), Address: wire.Optional(c.Address),
	}, nil
}

// revealBeneficiary shows the account number that the other reads mask of a payout. The line in the audit log comes first.
func (e *edge) revealBeneficiary(ctx context.Context, r *request, body RevealReason) (any, error) {
	b, err := e.Reports.FindBeneficiary(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := noNumber(body.Note, b.AccountNumber); err != nil {
		return nil, err
	}
	if err := e.Operators.RevealBeneficiary(ctx, r.by, b.Company, b.Reference, body.Reason, body.Note); err != nil {
		return nil, err
	}
	return Beneficiary{Reference: b.Reference, Company: b.Company, AccountName: b.AccountName, AccountNumber: b.AccountNumber, BankName: b.BankName}, nil
}

// noNumber refuses a note with the number that somebody reveals, because the audit log keeps the note. The last ten digits are those of a
// bank account, and of a phone with or without the code of the country.
func noNumber(note, number string) error {
	number = digits(number)
	if number = number[max(0, len(number)-10):]; number != "" && strings.Contains(digits(note), number) {
		return fault.New(fault.Invalid, `"note" must not have the number that it is about`)
	}
	return nil
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// ofCompany reads a page of a company's rows. An unknown company is Missing.
func ofCompany[T any](ctx context.Context, e *edge, r *request, read func(ctx context.Context, company, after string) (report.Rows[T], error)) (report.Rows[T], error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return report.Rows[T]{}, err
	}
	return read(ctx, c.Reference, r.filter("after"))
}

func (e *edge) listCompanyCustomers(ctx context.Context, r *request) (any, error) {
	p, err := ofCompany(ctx, e, r, e.Reports.People)
	return CompanyCustomers{rows(p.Rows, companyCustomerOf), wire.Optional(p.Next)}, err
}

func (e *edge) findCompanyCustomer(ctx context.Context, r *request) (any, error) {
	r.subject = r.PathValue("id")
	p, err := e.Reports.FindPerson(ctx, r.PathValue("reference"), r.PathValue("id"))
	return companyCustomerOf(p), err
}

// listCustomerCredits lists what has arrived on the account of a customer.
func (e *edge) listCustomerCredits(ctx context.Context, r *request) (any, error) {
	r.subject = r.PathValue("id")
	reference := r.PathValue("reference")
	p, err := e.Reports.FindPerson(ctx, reference, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	list, err := e.Customers.TransactionsAfter(ctx, reference, customer.TransactionFilter{CustomerID: p.ID}, r.filter("after"), report.PageRows+1)
	more := len(list) > report.PageRows
	if more {
		list = list[:report.PageRows]
	}
	return CustomerCredits{rows(list, func(t customer.Transaction) CustomerCredit {
		return CustomerCredit{
			Reference: t.ID, Amount: t.Amount, SenderName: wire.Optional(t.Sender.Name), SessionID: wire.Optional(t.SessionID), SettlementID: t.SettlementID,
			CreatedAt: clock.Text(t.CreatedAt.Time),
		}
	}), next(list, more)}, err
}

func companyCustomerOf(p report.Person) CompanyCustomer {
	out := CompanyCustomer{
		ID: p.ID, FirstName: p.FirstName, MiddleName: wire.Optional(p.MiddleName), LastName: p.LastName, PhoneNumber: p.Phone, Email: p.Email,
		Status: p.Status, CreatedAt: clock.Text(p.CreatedAt), UpdatedAt: clock.Text(p.UpdatedAt),
	}
	if p.AccountState != "" {
		out.Account = &CustomerAccount{
			Status: p.AccountState, AccountNumber: wire.Optional(p.AccountNumber), AccountName: wire.Optional(p.AccountName),
			BankName: wire.Optional(p.BankName), SettlementID: p.SettlementID, NameMatch: wire.Optional(p.NameMatch),
		}
	}
	return out
}

func (e *edge) listVirtualAccounts(ctx context.Context, r *request) (any, error) {
	p, err := ofCompany(ctx, e, r, e.Reports.VirtualAccounts)
	return VirtualAccounts{rows(p.Rows, func(a report.VirtualAccount) VirtualAccount {
		return VirtualAccount{
			ID: a.ID, OwnReference: a.OwnReference, Status: a.State, Amount: a.Amount, AmountControl: a.Control, SettlementID: a.SettlementID,
			AccountNumber: wire.Optional(a.AccountNumber), AccountName: wire.Optional(a.AccountName), BankName: wire.Optional(a.BankName),
			Credit: wire.Optional(a.CreditID), ExpiresAt: clock.Text(a.ExpiresAt), CreatedAt: clock.Text(a.CreatedAt),
		}
	}), wire.Optional(p.Next)}, err
}

func (e *edge) listCards(ctx context.Context, r *request) (any, error) {
	p, err := ofCompany(ctx, e, r, func(ctx context.Context, company, after string) (report.Rows[report.CardLine], error) {
		return e.Reports.Cards(ctx, company, r.filter("customer"), after)
	})
	return Cards{rows(p.Rows, func(c report.CardLine) Card {
		out := Card{
			ID: c.ID, CustomerID: c.CustomerID, State: c.State, Status: wire.Optional(c.Status), Type: c.Kind, Brand: c.Brand, Currency: c.Currency,
			MaskedPan: wire.Optional(c.MaskedPAN), Provider: c.Provider, CreatedAt: clock.Text(c.CreatedAt),
		}
		if c.ExpiryMonth != "" {
			out.Expiry = wire.Optional(c.ExpiryMonth + "/" + c.ExpiryYear)
		}
		return out
	}), wire.Optional(p.Next)}, err
}

func (e *edge) listEntries(ctx context.Context, r *request) (any, error) {
	account, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.Missing, "Settlement account not found")
	}
	p, err := ofCompany(ctx, e, r, func(ctx context.Context, company, after string) (report.Rows[report.EntryLine], error) {
		return e.Reports.EntryLines(ctx, company, account, after)
	})
	return Entries{rows(p.Rows, func(l report.EntryLine) Entry {
		return Entry{Sequence: l.Sequence, Amount: l.Amount, Balance: l.Balance, Step: l.Step, Reference: l.Reference, CreatedAt: clock.Text(l.CreatedAt)}
	}), wire.Optional(p.Next)}, err
}

func (e *edge) listEvents(ctx context.Context, r *request) (any, error) {
	p, err := ofCompany(ctx, e, r, e.Reports.Events)
	return CompanyEvents{rows(p.Rows, func(l report.EventLine) CompanyEvent {
		return CompanyEvent{Sequence: l.Sequence, ID: l.ID, Event: l.Kind, CreatedAt: clock.Text(l.CreatedAt)}
	}), wire.Optional(p.Next)}, err
}

func (e *edge) listDeliveries(ctx context.Context, r *request) (any, error) {
	p, err := ofCompany(ctx, e, r, func(ctx context.Context, company, after string) (report.Rows[report.DeliveryLine], error) {
		return e.Reports.Deliveries(ctx, company, r.filter("state"), after)
	})
	return Deliveries{rows(p.Rows, func(l report.DeliveryLine) Delivery {
		return Delivery{
			ID: l.ID, WebhookID: l.Endpoint, EventID: l.EventID, Event: l.Kind, Sequence: l.Sequence, Status: l.State, Attempts: l.Attempts,
			ResponseStatus: wire.Optional(l.Status), Error: wire.Optional(l.Trouble), NextAttemptAt: clock.Optional(l.NextAt),
			CreatedAt: clock.Text(l.CreatedAt), UpdatedAt: clock.Text(l.UpdatedAt),
		}
	}), wire.Optional(p.Next)}, err
}
