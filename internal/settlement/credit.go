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
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// House is the book of the fintech itself. Money that came in for an account
// nobody knows is kept there until an operator finds out whose it is.
const House = inbox.House

// SuspenseAccount is where the house keeps it.
const SuspenseAccount = "suspense/inbound"

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

// subject is what a case about the credit is about.
func (c Credit) subject() string { return inbox.Subject(c.Provider, c.Session) }

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

// Receive takes the bank's final word on a credit. Confirmed money is credited
// to the company whose account it came into; the same credit any number of times
// is one. Money for an account that nobody knows goes into suspense, with a case
// for an operator; it never goes away. Rejected is nothing to us, unless the
// credit is in a book already: then a human decides.
func (s *Service) Receive(ctx context.Context, providerName string, in provider.Inbound) error {
	if in.SessionID == "" || in.Outcome == provider.Confirmed && in.Amount <= 0 {
		return fmt.Errorf("settlement: not a credit: session %q, %s, %q", in.SessionID, in.Amount, in.Status)
	}
	c := Credit{
		ID: id.New(), Provider: providerName, Session: in.SessionID, Account: in.CreditAccount,
		SenderName: in.SenderName, SenderAccount: in.SenderAccount, SenderBank: in.SenderBank,
		Narration: in.Narration, Amount: in.Amount, At: in.At, Virtual: in.Virtual, Reference: in.Reference,
	}
	switch in.Outcome {
	case provider.Confirmed:
	case provider.Rejected:
		return s.withdrawn(ctx, c)
	default:
		return fmt.Errorf("settlement: the bank is not done with session %s: %q", in.SessionID, in.Status)
	}
	company, err := s.decide(ctx, c)
	switch {
	case err != nil:
		return err
	case company == House:
		return s.suspend(ctx, c)
	}
	return s.receive(ctx, company, c)
}

// decide says whose a credit is: the company's whose account it came into, or
// the house's for an account that nobody takes. The first decision about a
// session is written down before anything is credited and stays, so that an
// account which becomes known later never makes one credit into two.
func (s *Service) decide(ctx context.Context, c Credit) (string, error) {
	company, err := s.decided(ctx, c)
	if !errors.Is(err, db.ErrNone) {
		return company, err
	}
	taken := false
	company, err = s.holder(ctx, c.Account)
	if err == nil {
		_, taken, err = s.taking(ctx, company, c)
	}
	if err != nil && !errors.Is(err, db.ErrNone) {
		return "", err
	}
	if !taken {
		company = House
	}
	return s.decideFor(ctx, c, company)
}

// receive asks the takers and commits. A taker whose row has changed meanwhile
// is asked again, a few times.
func (s *Service) receive(ctx context.Context, company string, c Credit) error {
	if there, err := s.credited(ctx, company, c); err != nil || there {
		return err
	}
	for range 5 {
		taking, ok, err := s.taking(ctx, company, c)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("settlement: nobody at company %s takes account %s any more", company, c.Account)
		}
		err = s.book.Commit(ctx, s.creditUnit(company, c, taking))
		r := ledger.Refused(err)
		switch {
		case r == nil:
			return err
		case ledger.Is(r, ledger.Exists, creditTable):
			return nil
		case r.Reason != ledger.Moved:
			return explain(err)
		}
	}
	return fault.New(fault.Unavailable, "The account is being changed")
}

// withdrawn: the bank says that a credit did not stay. If it is in a book no
// money moves by itself.
func (s *Service) withdrawn(ctx context.Context, c Credit) error {
	company, err := s.decided(ctx, c)
	if errors.Is(err, db.ErrNone) {
		return nil
	}
	there := false
	if err == nil {
		there, err = s.credited(ctx, company, c)
	}
	if err != nil || !there {
		return err
	}
	return s.operations.OpenCase(ctx, company, c.subject(), operation.Contradiction,
		"this credit is in the book, and "+c.Provider+" now says that it did not stay")
}

func (s *Service) taking(ctx context.Context, company string, c Credit) (Taking, bool, error) {
	for _, take := range s.takers {
		if t, ok, err := take(ctx, company, c); ok || err != nil {
			return t, ok, err
		}
	}
	return s.own(ctx, company, c)
}

// told is what the event of a credit says. Its id is the reference of the entry
// in the settlement ledger.
type told struct {
	ID            string     `json:"id"`
	SettlementID  int64      `json:"settlementId"`
	Amount        money.Kobo `json:"amount"`
	AccountNumber string     `json:"accountNumber"`
	SenderName    string     `json:"senderName"`
	Narration     string     `json:"narration"`
	SessionID     string     `json:"sessionId"`
	CreatedAt     string     `json:"createdAt"`
}

func (c Credit) told(settlementID int64, now time.Time) told {
	return told{
		ID: c.ID, SettlementID: settlementID, Amount: c.Amount, AccountNumber: c.Account, SenderName: c.SenderName,
		Narration: c.Narration, SessionID: c.Session, CreatedAt: clock.Text(now),
	}
}

// own takes a credit on a bank account that feeds a settlement account.
func (s *Service) own(ctx context.Context, company string, c Credit) (Taking, bool, error) {
	settlementID, err := s.fed(ctx, company, c.Account)
	if errors.Is(err, db.ErrNone) {
		return Taking{}, false, nil
	}
	if err == nil {
		settlementID, err = s.Landing(ctx, company, settlementID)
	}
	if err != nil {
		return Taking{}, false, err
	}
	return Taking{SettlementID: settlementID, Notes: []db.Record{
		event.New(company, event.SettlementCredit, c.told(settlementID, s.clock.Now())),
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
			Reference: c.ID, Debit: ProviderAccount(c.Provider), Credit: LedgerAccount(t.SettlementID), Amount: c.Amount,
			Kind: t.Kind, Narration: t.Narration,
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
	err := s.book.Commit(ctx, s.suspenseUnit(c))
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		// Told before. The case is asked for by the session, so it is the same one;
		// what operators have given to a company needs none.
		given, err := s.book.Taken(ctx, House, r.Rows[0].Value("id").(string), assignStep)
		if err != nil || given {
			return err
		}
		return s.askWhose(ctx, c)
	}
	if err != nil {
		return explain(err)
	}
	return s.askWhose(ctx, c)
}

func (s *Service) askWhose(ctx context.Context, c Credit) error {
	return s.operations.OpenCase(ctx, House, c.subject(), operation.UnknownAccount,
		fmt.Sprintf("%s of account %s at %s belongs to no company", c.Amount, c.Account, c.Provider))
}

func (s *Service) suspenseUnit(c Credit) ledger.Unit {
	return ledger.Unit{
		Company: House,
		Open:    []ledger.Account{{ID: ProviderAccount(c.Provider), Floor: money.NoFloor}, {ID: SuspenseAccount}},
		Claims:  []db.Record{c.record(House, 0, s.clock.Now())},
		Transfers: []ledger.Transfer{{
			Reference: c.ID, Debit: ProviderAccount(c.Provider), Credit: SuspenseAccount, Amount: c.Amount,
			Kind: "suspense", Narration: c.Narration,
		}},
	}
}

// Raise asks for a human's decision about something on which a bank's statement and
// our books differ, as the operations' Raise does; the house has a book for it.
func (s *Service) Raise(ctx context.Context, c operation.Case, judged time.Time) (operation.Case, error) {
	if c.Company == House {
		if err := s.foundHouse(ctx); err != nil {
			return c, err
		}
	}
	return s.operations.Raise(ctx, c, judged)
}

// Ask opens a case of the house: something that came in, and of which no
// company can be told, needs a human.
func (s *Service) Ask(ctx context.Context, subject string, reason operation.Reason, detail string) error {
	if err := s.foundHouse(ctx); err != nil {
		return err
	}
	return s.operations.OpenCase(ctx, House, subject, reason, detail)
}

// foundHouse makes the house's book when it is first needed.
func (s *Service) foundHouse(ctx context.Context) error {
	there, err := s.book.Exists(ctx, House)
	if err != nil || there {
		return err
	}
	return s.book.Commit(ctx, ledger.Unit{Company: House, Found: true})
}

// Holds tells whether an account number is one of the companies'.
func (s *Service) Holds(ctx context.Context, accountNumber string) (bool, error) {
	_, err := s.holder(ctx, accountNumber)
	if errors.Is(err, db.ErrNone) {
		return false, nil
	}
	return err == nil, err
}

// Enter says whose account number this is, before anybody is told of it. A
// number belongs to one company for good.
func (s *Service) Enter(ctx context.Context, company, accountNumber, bankCode string) error {
	owner, err := s.enter(ctx, company, BankAccount{Number: accountNumber, BankCode: bankCode})
	if err == nil && owner != company {
		err = errForeign
	}
	return err
}
