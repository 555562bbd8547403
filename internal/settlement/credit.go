package settlement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// House is the book of the fintech itself. Money that came in for an account
// nobody knows is kept there until an operator finds out whose it is.
const House = "house"

// suspenseAccount is where the house keeps it.
const suspenseAccount = "suspense/inbound"

// Credit is money that the bank has confirmed on one of our accounts.
type Credit struct {
	ID            string // ours
	Provider      string
	Session       string // the bank's: the same however often it is told
	Account       string // the number that was credited
	SenderName    string
	SenderAccount string
	SenderBank    string
	Narration     string
	Amount        money.Kobo
	At            time.Time
	Virtual       bool
	Reference     string // ours, for a virtual account
}

// Taking is what a business does with a credit on one of its accounts: the
// settlement account it belongs to, and the paper that goes into the same unit.
type Taking struct {
	SettlementID int64
	Kind         string // of the transfer, for statements; "" means credit
	Narration    string // "" means the sender's own
	Claims       []db.Record
	Moves        []ledger.Move
	Notes        []db.Record
}

// Taker looks whether the credited account of a company is its own, and says
// what goes with the credit. It is asked again when one of its moves was refused
// because the row had changed.
type Taker func(ctx context.Context, company string, c Credit) (t Taking, ok bool, err error)

// Take has a business asked about each credit, in the order in which they came.
// Call it before the first credit.
func (s *Service) Take(t Taker) { s.takers = append(s.takers, t) }

// Receive credits a company with money that the bank has confirmed. The same
// credit any number of times is one. Money for an account that nobody knows
// goes into suspense, with a case for an operator; it never goes away.
func (s *Service) Receive(ctx context.Context, providerName string, in provider.Inbound) error {
	if in.Outcome != provider.Confirmed || in.SessionID == "" || in.Amount <= 0 {
		return fmt.Errorf("settlement: not a confirmed credit: %s %s", in.SessionID, in.Status)
	}
	c := Credit{
		ID: id.New(), Provider: providerName, Session: in.SessionID, Account: in.CreditAccount,
		SenderName: in.SenderName, SenderAccount: in.SenderAccount, SenderBank: in.SenderBank,
		Narration: in.Narration, Amount: in.Amount, At: in.At, Virtual: in.Virtual, Reference: in.Reference,
	}
	company, err := s.holder(ctx, in.CreditAccount)
	if errors.Is(err, db.ErrNone) {
		return s.suspend(ctx, c)
	}
	if err != nil {
		return err
	}
	return s.receive(ctx, company, c)
}

// receive asks the takers and commits. A taker whose row has changed meanwhile
// is asked again, a few times.
func (s *Service) receive(ctx context.Context, company string, c Credit) error {
	for range 5 {
		taking, ok, err := s.taking(ctx, company, c)
		if err != nil {
			return err
		}
		if !ok {
			return s.suspend(ctx, c)
		}
		err = s.book.Commit(ctx, s.creditUnit(company, c, taking))
		r := ledger.Refused(err)
		switch {
		case r == nil:
			return err
		case r.Reason == ledger.Exists && r.Row.Table == creditTable:
			return nil
		case r.Reason != ledger.Moved:
			return explain(err)
		}
	}
	return fault.New(fault.Unavailable, "The account is being changed")
}

func (s *Service) taking(ctx context.Context, company string, c Credit) (Taking, bool, error) {
	for _, take := range s.takers {
		if t, ok, err := take(ctx, company, c); ok || err != nil {
			return t, ok, err
		}
	}
	return s.own(ctx, company, c)
}

// own takes a credit on a bank account that feeds a settlement account.
func (s *Service) own(ctx context.Context, company string, c Credit) (Taking, bool, error) {
	settlementID, err := s.fed(ctx, company, c.Account)
	if errors.Is(err, db.ErrNone) {
		return Taking{}, false, nil
	}
	if err != nil {
		return Taking{}, false, err
	}
	return Taking{SettlementID: settlementID, Notes: []db.Record{
		event.New(company, event.SettlementCredit, map[string]any{
			"id": c.ID, "settlementId": settlementID, "amount": c.Amount, "accountNumber": c.Account,
			"senderName": c.SenderName, "narration": c.Narration, "sessionId": c.Session, "createdAt": clock.Text(s.clock.Now()),
		}, s.clock.Now()),
	}}, true, nil
}

func (s *Service) creditUnit(company string, c Credit, t Taking) ledger.Unit {
	if t.Kind == "" {
		t.Kind = "credit"
	}
	if t.Narration == "" {
		t.Narration = c.Narration
	}
	return ledger.Unit{
		Company: company,
		Open:    []ledger.Account{{ID: ProviderAccount(c.Provider), Floor: money.NoFloor}},
		Claims:  append([]db.Record{c.record(company, t.SettlementID, s.clock.Now())}, t.Claims...),
		Moves:   t.Moves,
		Transfers: []ledger.Transfer{{
			ID: id.New(), Debit: ProviderAccount(c.Provider), Credit: LedgerAccount(t.SettlementID), Amount: c.Amount,
			Kind: t.Kind, Reference: c.ID, Narration: t.Narration,
		}},
		Notes: t.Notes,
	}
}

// suspend keeps a credit for nobody in the house's own book. The case is opened
// after the commit; if the program stops in between, the bank's next word about
// the credit, or the sweep, comes here again and opens it then.
func (s *Service) suspend(ctx context.Context, c Credit) error {
	if err := s.foundHouse(ctx); err != nil {
		return err
	}
	err := s.book.Commit(ctx, ledger.Unit{
		Company: House,
		Open:    []ledger.Account{{ID: ProviderAccount(c.Provider), Floor: money.NoFloor}, {ID: suspenseAccount}},
		Claims:  []db.Record{c.record(House, 0, s.clock.Now())},
		Transfers: []ledger.Transfer{{
			ID: id.New(), Debit: ProviderAccount(c.Provider), Credit: suspenseAccount, Amount: c.Amount,
			Kind: "suspense", Reference: c.ID, Narration: c.Narration,
		}},
	})
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		// Told before. The case is asked for by the session, so it is the same one.
		err = nil
	}
	if err != nil {
		return explain(err)
	}
	return s.operations.OpenCase(ctx, House, c.Session, operation.UnknownAccount,
		fmt.Sprintf("%s of account %s at %s belongs to no company", c.Amount, c.Account, c.Provider))
}

// foundHouse makes the house's book when it is first needed.
func (s *Service) foundHouse(ctx context.Context) error {
	there, err := s.book.Exists(ctx, House)
	if err != nil || there {
		return err
	}
	return s.book.Commit(ctx, ledger.Unit{Company: House, Found: true})
}

// Enter says whose account number this is, before anybody is told of it. A
// number belongs to one company for good.
func (s *Service) Enter(ctx context.Context, company, accountNumber, bankCode string) error {
	owner, err := s.enter(ctx, company, BankAccount{Number: accountNumber, BankCode: bankCode})
	if err == nil && owner != company {
		err = fault.New(fault.Refused, "The bank account belongs to another company")
	}
	return err
}
