package settlement

import (
	"cmp"
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
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
)

// House is the company ID of the fintech itself. The fintech's ledger holds money of unknown
// accounts until two operators assign the money to a company.
const House = inbox.House

// SuspenseAccount is the account in the fintech's own ledger that holds money of unknown
// accounts.
const SuspenseAccount = "suspense/inbound"

// Credit is an incoming payment to one of our bank accounts, as the bank reports it.
type Credit struct {
	ID            string     `db:"id,key"` // our ID
	Provider      string     `db:"provider"`
	Session       string     `db:"session_id"`     // the bank's session ID, equal in every notification of this credit
	Account       string     `db:"account_number"` // the credited account
	SenderName    string     `db:"sender_name"`
	SenderAccount string     `db:"sender_account"`
	SenderBank    string     `db:"sender_bank"`
	Narration     string     `db:"narration"`
	Amount        money.Kobo `db:"amount_kobo"`
	At            time.Time  `db:"told_at"`
	Reference     string     `db:"reference"` // our reference, for a virtual account
	Virtual       bool
}

// subject returns the subject of a case about the credit.
func (c Credit) subject() string { return inbox.Subject(c.Provider, c.Session) }

// Sender is the payer of a credit, as the bank reports it. A field is "" if the bank does not report
// it.
type Sender struct {
	Name    string `json:"senderName,omitempty"`
	Bank    string `json:"senderBank,omitempty"`    // the bank's code, as in GET /settlement/banks
	Account string `json:"senderAccount,omitempty"` // the account number
}

// Sender returns the payer of the credit.
func (c Credit) Sender() Sender { return Sender{c.SenderName, c.SenderBank, c.SenderAccount} }

// Booking describes how to book a credit: the settlement account to credit, and further changes
// in the same unit.
type Booking struct {
	SettlementID int64
	Kind         string               // the kind of the transfer, for statements; "" means "credit"
	Narration    string               // "" means the sender's narration
	Effects      func(u *ledger.Unit) // adds the recipient's rows to the unit; nil for none
}

// Recipient is a function that decides how to book credits to one kind of account, such as
// customers' accounts. It returns ok only for an account of its kind. If the ledger refuses a
// transition of the recipient's rows, Receive calls the recipient again.
type Recipient func(ctx context.Context, company string, c Credit) (b Booking, ok bool, err error)

// Receive books a credit according to the bank's final outcome. It credits confirmed money to the
// owner of the account, only once however many notifications arrive. Money for an unknown account
// goes into suspense, and a case is opened for operators. A rejected credit changes nothing,
// unless it is booked already. In that case Receive opens a case.
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
		return fmt.Errorf("settlement: the bank has no final answer for session %s: %q", in.SessionID, in.Status)
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

// decide returns the owner of a credit: the company of the account, or House for an unknown
// account. Before the credit is booked, decide stores the owner for the credit's session ID. An
// owner that is stored already is final. So if the account becomes known later, the credit is not
// booked a second time.
func (s *Service) decide(ctx context.Context, c Credit) (string, error) {
	company, err := s.decided(ctx, c)
	if !errors.Is(err, db.ErrNone) {
		return company, err
	}
	company = House
	owners, err := s.holders(ctx, c.Account)
	if err == nil && len(owners) == 1 {
		var known bool
		if _, known, err = s.booking(ctx, owners[0], c); known {
			company = owners[0]
		}
	}
	if err != nil {
		return "", err
	}
	return s.decideFor(ctx, c, company)
}

// receive asks the recipients for a booking and commits the booking. If a recipient's row has
// changed before the commit, receive asks again, up to five times in total.
func (s *Service) receive(ctx context.Context, company string, c Credit) error {
	if there, err := s.credited(ctx, company, c); err != nil || there {
		return err
	}
	for range 5 {
		b, ok, err := s.booking(ctx, company, c)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("settlement: company %s has no recipient for account %s any more", company, c.Account)
		}
		err = s.Book.Commit(ctx, s.creditUnit(company, c, b))
		r := ledger.Refused(err)
		switch {
		case r == nil:
			return err
		case ledger.Is(r, ledger.Exists, credits.Table):
			return nil
		case r.Reason != ledger.Moved:
			return explain(err)
		}
	}
	return fault.New(fault.Unavailable, "The account is being changed")
}

// withdrawn opens a case if the bank rejects a credit that is booked already. It moves no money,
// because operators decide the case.
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
	return s.Operations.OpenCase(ctx, company, c.subject(), operation.Contradiction,
		"this credit is in the ledger, and "+c.Provider+" now says that it did not stay")
}

// booking asks each recipient in order how to book a credit. If none of the recipients knows the
// account, it tries the bank accounts that feed settlement accounts.
func (s *Service) booking(ctx context.Context, company string, c Credit) (Booking, bool, error) {
	for _, ask := range s.Recipients {
		if b, ok, err := ask(ctx, company, c); ok || err != nil {
			return b, ok, err
		}
	}
	return s.own(ctx, company, c)
}

// creditEvent is the data of the event that reports a credit. The event's id is the reference of
// the transfer in the ledger.
type creditEvent struct {
	ID            string     `json:"id"`
	SettlementID  int64      `json:"settlementId"`
	Amount        money.Kobo `json:"amount"`
	AccountNumber string     `json:"accountNumber"`
	SenderName    string     `json:"senderName"`
	SenderBank    string     `json:"senderBank,omitempty"`
	SenderAccount string     `json:"senderAccount,omitempty"`
	Narration     string     `json:"narration"`
	SessionID     string     `json:"sessionId"`
	CreatedAt     string     `json:"createdAt"`
}

// own returns the booking of a credit to a bank account that feeds a settlement account.
func (s *Service) own(ctx context.Context, company string, c Credit) (Booking, bool, error) {
	settlementID, err := s.fed(ctx, company, c.Account)
	if errors.Is(err, db.ErrNone) {
		return Booking{}, false, nil
	}
	if err == nil {
		settlementID, err = s.Landing(ctx, company, settlementID)
	}
	return s.ownBooking(c, settlementID), err == nil, err
}

// ownBooking returns a booking that credits a settlement account and emits the event.
func (s *Service) ownBooking(c Credit, settlementID int64) Booking {
	now := s.Clock.Now()
	return Booking{SettlementID: settlementID, Effects: func(u *ledger.Unit) {
		event.Emit(u, event.SettlementCredit, creditEvent{
			ID: c.ID, SettlementID: settlementID, Amount: c.Amount, AccountNumber: c.Account, SenderName: c.SenderName,
			SenderBank: c.SenderBank, SenderAccount: c.SenderAccount, Narration: c.Narration, SessionID: c.Session, CreatedAt: clock.Text(now),
		})
	}}
}

// CreditUnit returns the unit that credits one of a company's settlement accounts with money that came
// back from a provider. It stores the company as the owner of the credit's session ID, which is
// final.
func (s *Service) CreditUnit(ctx context.Context, company string, c Credit, settlementID int64) (ledger.Unit, error) {
	if err := s.MayCredit(ctx, company, settlementID); err != nil {
		return ledger.Unit{}, err
	}
	if _, err := s.decideFor(ctx, c, company); err != nil {
		return ledger.Unit{}, err
	}
	return s.creditUnit(company, c, s.ownBooking(c, settlementID)), nil
}

// creditUnit returns the unit that books a credit in a company's ledger. If company is House, it
// books the credit in the suspense account.
func (s *Service) creditUnit(company string, c Credit, b Booking) ledger.Unit {
	u := ledger.For(company)
	u.OpenAccounts(ledger.Account{ID: ProviderAccount(c.Provider), Floor: money.NoFloor})
	to := LedgerAccount(b.SettlementID)
	if company == House {
		to = SuspenseAccount
		u.OpenAccounts(ledger.Account{ID: to})
	}
	u.Insert(credits.Record(creditRow{company, c, b.SettlementID, s.Clock.Now()}))
	u.Transfer(ledger.Transfer{
		Reference: c.ID, Debit: ProviderAccount(c.Provider), Credit: to, Amount: c.Amount,
		Kind: cmp.Or(b.Kind, "credit"), Narration: cmp.Or(b.Narration, c.Narration),
	})
	if b.Effects != nil {
		b.Effects(&u)
	}
	return u
}

// suspense is the booking of a credit of an unknown account.
var suspense = Booking{Kind: "suspense"}

// suspend books a credit of an unknown account in the fintech's own ledger, and then opens its
// case. If the program crashes in between, the next notification or the credit poll calls suspend
// again. That call opens the case.
func (s *Service) suspend(ctx context.Context, c Credit) error {
	if err := s.foundHouse(ctx); err != nil {
		return err
	}
	err := s.Book.Commit(ctx, s.creditUnit(House, c, suspense))
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Exists {
		// This is a repeated notification. The case's subject contains the session ID, so askWhose
		// does not open a second case. A credit that operators have assigned needs no case.
		var earlier creditRow
		if earlier, err = credits.Value(r.Rows[0]); err != nil {
			return err
		}
		assigned, err := s.Book.Taken(ctx, House, earlier.ID, assignStep)
		if err != nil || assigned {
			return err
		}
		return s.askWhose(ctx, c)
	}
	if err != nil {
		return explain(err)
	}
	return s.askWhose(ctx, c)
}

// askWhose opens a case about a credit of an unknown account. Operators decide in this case which
// company owns the money.
func (s *Service) askWhose(ctx context.Context, c Credit) error {
	return s.Operations.OpenCase(ctx, House, c.subject(), operation.UnknownAccount,
		fmt.Sprintf("%s of account %s at %s belongs to no company", c.Amount, c.Account, c.Provider))
}

// Raise opens a case about a difference between a bank's statement and the ledger, like
// operation.Service.Raise. If the case belongs to House, Raise first creates the fintech's own
// ledger, unless that ledger exists.
func (s *Service) Raise(ctx context.Context, c operation.Case, judged time.Time) (operation.Case, error) {
	if c.Company == House {
		if err := s.foundHouse(ctx); err != nil {
			return c, err
		}
	}
	return s.Operations.Raise(ctx, c, judged)
}

// Ask opens a case about a notification whose company is unknown. The case belongs to House.
func (s *Service) Ask(ctx context.Context, subject string, reason operation.Reason, detail string) error {
	if err := s.foundHouse(ctx); err != nil {
		return err
	}
	return s.Operations.OpenCase(ctx, House, subject, reason, detail)
}

// foundHouse creates the fintech's own ledger (House) unless that ledger exists.
func (s *Service) foundHouse(ctx context.Context) error {
	there, err := s.Book.Exists(ctx, House)
	if err != nil || there {
		return err
	}
	details, err := s.Book.Founding(ctx)
	if err != nil {
		return err
	}
	u := ledger.Found(House)
	operator.Itself().Audit(&u, "company.create", House, details, s.Clock.Now())
	return s.Book.Commit(ctx, u)
}

// Holds reports whether an account number belongs to a company. Several companies may own the same
// number at different banks.
func (s *Service) Holds(ctx context.Context, accountNumber string) (bool, error) {
	owners, err := s.holders(ctx, accountNumber)
	return len(owners) > 0, err
}

// errElsewhere is the refusal of a bank account that belongs to another company. It has no message, so the company reads the sentence of
// a bank that refuses without a reason. Otherwise it would learn who else has an account at the bank. Its cause is for the log.
var errElsewhere = fault.New(fault.Refused, "").With(fault.Declined).Because(errForeign)

// Enter writes an account number into the directory, before the number is shown to anyone. A
// number belongs to its company permanently. If it belongs to another company, the fault is of the kind Refused.
func (s *Service) Enter(ctx context.Context, company, accountNumber, bankCode string) error {
	owner, err := s.enter(ctx, company, BankAccount{Number: accountNumber, BankCode: bankCode})
	if err == nil && owner != company {
		err = errElsewhere
	}
	return err
}
