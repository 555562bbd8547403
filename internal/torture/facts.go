package torture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/kobo-waas/kobo/internal/money"
)

// Facts is what Kobo, the simulated providers and the receiver of webhooks hold after a run.
type Facts struct {
	Companies  []Books     `json:"companies"`
	Executions []Execution `json:"executions"` // what the providers were asked for
	Moved      []string    `json:"moved"`      // purchases that Kobo has sent to the second biller
	Both       []string    `json:"both"`       // those of them that Kobo has sent to the first one too
	Unsent     []string    `json:"unsent"`     // failed payments that Kobo has never sent, or that the first biller refused with all others, as their timelines say
	Cases      []Case      `json:"cases"`
	Verify     []string    `json:"verify"` // what kobo verify reports
	Read       int64       `json:"read"`   // the ledger entries that it has read
	Messages   []Message   `json:"webhooks"`
	Forged     int         `json:"forged"`          // webhooks that no secret of their company verifies
	Panics     []string    `json:"panics"`          // from the logs of the programs
	Starts     []string    `json:"starts"`          // programs that ended by themselves
	Started    int         `json:"started"`         // counts the starts of the programs
	Again      []failure   `json:"again,omitempty"` // starts that did not succeed at first
	Faults     []string    `json:"faults"`          // answers of any request with a status from 500, but 503
}

// Books is what the API shows of a company.
type Books struct {
	Reference string    `json:"reference"`
	Main      int64     `json:"main"`
	First     int64     `json:"first"` // the number of the first event that the webhook must tell
	Accounts  []Account `json:"accounts"`
	Payments  []Payment `json:"payments"`
	Entries   []Entry   `json:"entries"` // oldest first
	Events    []Event   `json:"events"`
	Virtual   []Virtual `json:"virtual"`
	Open      []string  `json:"open"` // operations without an outcome
	Intact    bool      `json:"intact"`
	Proofs    []Proof   `json:"proofs"` // receipts of some payments
	Turned    []Turned  `json:"turned,omitempty"`
}

// Turned is an answer that an access token is not valid. Times are microseconds since the begin of the run.
type Turned struct {
	Made  int64 // before the company asked for the token
	Begun int64 // before the company used the token
	Says  string
}

// Account is a settlement account.
type Account struct {
	ID      int64
	Balance money.Kobo
	Opening money.Kobo // what it held before the run
}

// Payment is a purchase, a payout or a card funding.
type Payment struct {
	Kind, Reference, Key, State string
	Amount, Fee                 money.Kobo
	Account                     int64
	Refunded                    bool
}

// Entry is a ledger entry of a settlement account. Change is negative for a debit.
type Entry struct {
	Reference, Source     string
	Account               int64
	Change, Before, After money.Kobo
}

// Virtual is a virtual account. Key is the company's own reference of it.
type Virtual struct {
	ID, Key, State string
	Amount         money.Kobo
}

// Event is an event of a company. Subject is the payment or the session that it is about, and Virtual the virtual account.
type Event struct {
	ID, Kind, Subject, Virtual string
	Sequence                   int64
	Amount                     money.Kobo // below 0 for an adjustment that debits
	Account                    int64
	State                      string     `json:",omitempty"` // of the payment, as its fee and its refund
	Fee                        money.Kobo `json:",omitempty"`
	Refunded                   bool       `json:",omitempty"`
	Body                       string     // the digest of the whole event, as the feed shows it
}

// Message is a webhook that the company's receiver has accepted, perhaps several times. Body is the digest of what it said.
type Message struct{ Company, Event, Body string }

// Execution is a request to a provider, or a reference that the provider does not know. Executions is 0 if the provider has not carried it
// out. Number is the masked number of the phone, the account or the card's account that it was for, and Bank the code of a payout's bank.
// Denied is how often the provider has said before that it does not know the reference.
type Execution struct {
	Reference, Kind, Status string
	Amount                  money.Kobo
	Executions, Requests    int64
	Number                  string
	Denied                  int64
	Bank                    string `json:",omitempty"`
}

// Case is a case, with what two operators have decided.
type Case struct {
	ID, Company, Subject, Reason, Status, Outcome, Detail string

	Timeline json.RawMessage `json:",omitempty"` // of the payment, if the run does not expect the case
}

// gather reads the facts from the API, except for what kobo verify reports.
func (w *world) gather(ctx context.Context) (f Facts, err error) {
	for _, c := range w.companies {
		b, err := w.books(ctx, c)
		if err != nil {
			return f, err
		}
		for _, t := range c.turned {
			b.Turned = append(b.Turned, Turned{t.made.Sub(w.began).Microseconds(), t.begun.Sub(w.began).Microseconds(), t.says})
		}
		f.Companies = append(f.Companies, b)
	}
	said, err := w.executions(ctx)
	if err != nil {
		return f, err
	}
	f.Executions, f.Moved, f.Both = said.all, said.moved, said.both
	f.Messages, f.Forged, err = w.hook.messages()
	return f, err
}

func (w *world) books(ctx context.Context, c *company) (b Books, err error) {
	b = Books{Reference: c.reference, Main: c.main, First: c.firstEvent}
	get := func(path string, v any) error { return c.data(ctx, http.MethodGet, "/api/v1/"+path, nil, v) }
	var accounts []struct {
		ID      int64
		Balance money.Kobo
	}
	if err = get("settlement/accounts", &accounts); err != nil {
		return b, err
	}
	for _, a := range accounts {
		one := Account{ID: a.ID, Balance: a.Balance}
		if c.number != "" && a.ID == c.main {
			one.Opening = devFloat
		}
		b.Accounts = append(b.Accounts, one)
	}
	var intact struct {
		Intact   bool
		InFlight struct{ Intact bool }
	}
	if err = get("integrity", &intact); err != nil {
		return b, err
	}
	b.Intact = intact.Intact && intact.InFlight.Intact
	for _, read := range []func(context.Context, *company, *Books) error{readPurchases, readPayouts, readVirtual, readEvents, readFundings, readEntries, readOpen} {
		if err = read(ctx, c, &b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// pages reads all pages of a list, and calls add with each row. The path ends with ? or &.
func pages[T any](ctx context.Context, c *company, path string, add func(T)) error {
	for page := 1; ; page++ {
		var list struct {
			Data []T
			Meta struct{ HasNextPage bool }
		}
		err := c.data(ctx, http.MethodGet, fmt.Sprintf("/api/v1/%spageSize=100&page=%d", path, page), nil, &list)
		if err != nil {
			return err
		}
		for _, row := range list.Data {
			add(row)
		}
		if !list.Meta.HasNextPage {
			return nil
		}
	}
}

func readPurchases(ctx context.Context, c *company, b *Books) error {
	type row struct {
		TransactionID, Status, IdempotencyKey string
		Amount, Fee                           money.Text
		SettlementID                          int64
		Refunded                              bool
	}
	return pages(ctx, c, "vtu/transactions?", func(r row) {
		b.Payments = append(b.Payments, Payment{
			purchase, r.TransactionID, r.IdempotencyKey, r.Status, money.Kobo(r.Amount), money.Kobo(r.Fee), r.SettlementID, r.Refunded,
		})
	})
}

func readPayouts(ctx context.Context, c *company, b *Books) error {
	type row struct {
		Reference, Status string
		Amount, Fee       money.Kobo
		SettlementID      int64
		Refunded          bool
	}
	return pages(ctx, c, "settlement/payouts?", func(r row) {
		b.Payments = append(b.Payments, Payment{payout, r.Reference, r.Reference, r.Status, r.Amount, r.Fee, r.SettlementID, r.Refunded})
	})
}

func readVirtual(ctx context.Context, c *company, b *Books) error {
	type row struct {
		ID                string `json:"virtual_trx_id"`
		ExternalReference string
		Status            string
		Amount            money.Kobo
	}
	return pages(ctx, c, "virtual-account/?", func(r row) {
		b.Virtual = append(b.Virtual, Virtual{r.ID, r.ExternalReference, r.Status, r.Amount})
	})
}

// readFundings reads the card fundings that the events name, because the API has no list of them.
func readFundings(ctx context.Context, c *company, b *Books) error {
	for _, e := range b.Events {
		if e.Kind != "card.funding_pending" {
			continue
		}
		var r struct {
			Reference, Status string
			Amount            money.Kobo
			SettlementID      int64
			Refunded          bool
		}
		if err := c.data(ctx, http.MethodGet, "/api/v1/card/transaction/"+e.Subject, nil, &r); err != nil {
			return err
		}
		b.Payments = append(b.Payments, Payment{funding, r.Reference, "", r.Status, r.Amount, 0, r.SettlementID, r.Refunded})
	}
	return nil
}

func readEntries(ctx context.Context, c *company, b *Books) error {
	type row struct {
		Amount, Fee  money.Kobo
		Type         string
		Previous     money.Kobo `json:"previous_balance"`
		Current      money.Kobo `json:"current_balance"`
		Source       string
		Reference    string
		SettlementID int64
	}
	for _, a := range b.Accounts {
		var own []Entry
		err := pages(ctx, c, fmt.Sprintf("settlement/transaction/?settlementId=%d&", a.ID), func(r row) {
			e := Entry{r.Reference, r.Source, r.SettlementID, r.Amount, r.Previous, r.Current}
			if r.Type == "debit" {
				e.Change = -e.Change - r.Fee
			}
			own = append(own, e)
		})
		if err != nil {
			return err
		}
		slices.Reverse(own)
		b.Entries = append(b.Entries, own...)
	}
	return nil
}

func readOpen(ctx context.Context, c *company, b *Books) error {
	return pages(ctx, c, "outcomes?", func(r struct{ Reference string }) { b.Open = append(b.Open, r.Reference) })
}

// readEvents reads the events after the last one that the books have.
func readEvents(ctx context.Context, c *company, b *Books) error {
	after := int64(0)
	if len(b.Events) > 0 {
		after = b.Events[len(b.Events)-1].Sequence
	}
	for {
		var feed struct {
			Data    []json.RawMessage
			HasMore bool
		}
		if err := c.data(ctx, http.MethodGet, fmt.Sprintf("/api/v1/events?limit=1000&after=%d", after), nil, &feed); err != nil {
			return err
		}
		for _, whole := range feed.Data {
			var r struct {
				ID, Event string
				Sequence  int64
				Data      json.RawMessage
			}
			if err := json.Unmarshal(whole, &r); err != nil {
				return err
			}
			e, err := readEvent(r.Data)
			if err != nil {
				return err
			}
			e.ID, e.Kind, e.Sequence, e.Body = r.ID, r.Event, r.Sequence, digest(whole)
			if e.Kind == "transaction.credit" && e.Account == 0 {
				e.Account = c.main // such an event names the customer only, and the customers of a run have this account
			}
			b.Events, after = append(b.Events, e), r.Sequence
		}
		if !feed.HasMore {
			return nil
		}
	}
}

// readEvent reads what an event is about: a session, else an operation, else nothing.
func readEvent(data json.RawMessage) (e Event, err error) {
	var d struct {
		TransactionID, Reference, SessionID string
		Virtual                             string `json:"virtual_trx_id"`
		SettlementID                        *int64
		Amount, Fee                         amount
		PaidAmount                          *amount
		Status, Direction                   string
		Refunded                            bool
	}
	if err = json.Unmarshal(data, &d); err != nil {
		return e, err
	}
	if d.PaidAmount != nil {
		d.Amount = *d.PaidAmount
	}
	if d.Direction == "debit" {
		d.Amount = -d.Amount
	}
	e.Amount, e.Fee, e.State, e.Refunded = money.Kobo(d.Amount), money.Kobo(d.Fee), d.Status, d.Refunded
	e.Subject, e.Virtual = d.TransactionID+d.Reference, d.Virtual
	if e.Subject == "" {
		e.Subject = d.SessionID
	}
	if d.SettlementID != nil {
		e.Account = *d.SettlementID
	}
	return e, nil
}

// amount is an amount in an answer or an event. It is a number, or text as that of a purchase.
type amount money.Kobo

// UnmarshalJSON reads an amount.
func (a *amount) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		return json.Unmarshal(data, (*money.Text)(a))
	}
	return json.Unmarshal(data, (*money.Kobo)(a))
}

// digest returns a short text that two different texts do not have in common.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
