// Package payout sends a company's money to bank accounts.
//
// A payout takes two steps. First Kobo asks the bank for the name on an account, and stores
// the name under an ID, the verify_id. The company sees the name and then sends money by that
// verify_id, which is valid for one payout. The payout's operation has the same ID. Kobo debits
// amount and fee before it asks the bank to pay. Kobo refunds both only if the bank definitely
// rejects the payout, or if the bank returns the money later.
package payout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/memo"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Kind is the operation kind of payouts.
const Kind = "payout"

// The states of a payout. Amount and fee of a Failed or Reversed payout are refunded. A Reversed
// payout had succeeded before.
const (
	Pending  = operation.Pending
	Success  = operation.Success
	Failed   = operation.Failed
	Reversed = operation.Reversed
)

// Sent is a payout in the form of the response to the company's send request.
type Sent struct {
	Reference     string          `json:"reference"` // the verify_id
	Amount        money.Kobo      `json:"amount"`
	Fee           money.Kobo      `json:"fee"`
	Status        operation.State `json:"status"`
	AccountName   string          `json:"account_name"`
	AccountNumber string          `json:"account_number"`
	BankCode      string          `json:"bank_code"`
	Narration     wire.Text       `json:"narration"`
	CreatedAt     clock.Instant   `json:"createdAt"`
}

// Reason returns the word of the header Kobo-Reason for a response with this payout, or "".
func (s Sent) Reason() fault.Reason { return s.Status.Reason() }

// Cursor returns the place of a payout in the list of the company's payouts.
func (s Sent) Cursor() string {
	return db.Place{At: clock.Micros(s.CreatedAt.Time), ID: s.Reference}.Cursor()
}

// Payout is a payout in the form that GET /settlement/payout-status and the events show.
type Payout struct {
	Sent
	BankName      wire.Text     `json:"bank_name"`
	SessionID     wire.Text     `json:"sessionId"` // the NIP session ID; "" until the bank has reported it
	FailureReason wire.Text     `json:"failureReason"`
	Refunded      bool          `json:"refunded"`
	SettlementID  int64         `json:"settlementId"`
	CompletedAt   clock.Instant `json:"completedAt"` // zero while PENDING
	operation.Labels
}

// payoutOf builds the payout from its operation and its beneficiary account.
func payoutOf(o operation.Operation, to order) Payout {
	p := Payout{
		Sent: Sent{
			Reference: o.ID, Amount: o.Amount, Fee: o.Fee, Status: o.State,
			AccountName: to.AccountName, AccountNumber: to.AccountNumber, BankCode: to.BankCode,
			Narration: wire.Text(to.Narration), CreatedAt: clock.Instant{Time: o.CreatedAt},
		},
		BankName: wire.Text(to.BankName), SessionID: wire.Text(operation.SessionOf(o.ProviderReference)),
		Refunded: o.Refunded(), SettlementID: o.SettlementID, Labels: o.Labels,
	}
	if p.Refunded {
		p.FailureReason = wire.Text(o.Message)
	}
	if o.State != Pending {
		p.CompletedAt.Time = o.UpdatedAt
	}
	return p
}

// Config is what a Service needs.
type Config struct {
	DB          *db.DB
	Book        *ledger.Book
	Clock       clock.Clock
	Log         *slog.Logger
	Companies   *company.Service
	Operations  *operation.Service
	Settlements *settlement.Service
	Payers      provider.Router[provider.Payer]
	// SendsHeld reports whether no queued payout may be sent, because the database was restored. It may be nil.
	SendsHeld func() bool
}

// Service sends payouts.
type Service struct {
	Config
	lists memo.Memo[[]Bank] // the lists of banks that were read in the last seconds, by provider
	names memo.Memo[string] // the names of banks that were read in the last seconds, by provider and code
}

// New returns a Service and registers the operation kind of payouts. New does not choose a bank,
// because each payout uses the bank that replied to its name enquiry.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.names.Keep, s.lists.Keep = fresh, fresh
	c.Operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects, Returns: true})
	return s
}

func route(o operation.Operation) operation.Route {
	r := settlement.Route(o)
	r.Fee, r.Charge = settlement.FeeAccount, settlement.ChargeAccount(o.Provider)
	return r
}

// requery asks the bank that received the payout's transfer order for the outcome.
func (s *Service) requery(ctx context.Context, o operation.Operation) provider.Answer {
	return s.heard(ctx, o, s.ask(ctx, o))
}

func (s *Service) ask(ctx context.Context, o operation.Operation) provider.TransferAnswer {
	p := s.Payers.Named(o.Provider)
	if p == nil {
		return provider.TransferAnswer{Answer: provider.NotConfigured}
	}
	return p.RequeryTransfer(ctx, o.ID)
}

// heard converts the bank's reply into the form that an operation stores. The operation's reference
// becomes the NIP session ID, by which the receiver's bank can find the money. Until the bank names
// one, the reference is the bank's own id of the transfer. It proves that the bank has the transfer,
// so a later "no such reference" refunds nothing. Kobo books a confirmed payout with the ordered
// amount. If the bank reports a different amount, heard immediately opens a case, and does not wait
// until the bank's statement shows the difference.
func (s *Service) heard(ctx context.Context, o operation.Operation, t provider.TransferAnswer) provider.Answer {
	a := t.Answer
	a.Reference = cmp.Or(t.SessionID, a.Reference)
	if a.Outcome == provider.Confirmed && t.Amount > 0 && t.Amount != o.Amount && t.Amount != o.Amount+a.Charge {
		detail := fmt.Sprintf("the payout is of %s; %s says that it paid %s", o.Amount, o.Provider, t.Amount)
		if err := s.Operations.RaiseAmount(ctx, operation.Case{
			Company: o.Company, Subject: o.ID, Reason: operation.AmountDiffers, Detail: detail, Amount: t.Amount - o.Amount,
		}); err != nil {
			s.Log.Error("a case was not opened", "company", o.Company, "operation", o.ID, "detail", detail, "error", err)
		}
	}
	return a
}

// outcomes maps each final state of a payout to the kind of its event.
var outcomes = map[operation.State]string{Success: event.PayoutSuccess, Failed: event.PayoutFailed, Reversed: event.PayoutReversed}

// effects adds the payout's event to the unit that records the outcome. If the payout is refunded,
// the same unit takes it out of the day's limit counters.
func (s *Service) effects(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
	to, err := s.findPayout(ctx, o.Company, o.ID)
	if err == nil {
		to.Effects(o, u)
	}
	return err
}

// Effects adds to the unit of the outcome what the payout changes with it.
func (p order) Effects(o operation.Operation, u *ledger.Unit) {
	if o.Refunded() {
		count(u, counters(o, -1, Limit{}, Limit{}))
	}
	event.Emit(u, outcomes[o.State], payoutOf(o, p))
}

// Status returns a payout of the company by its reference.
func (s *Service) Status(ctx context.Context, company, reference string) (Payout, error) {
	o, err := s.Operations.Find(ctx, company, reference)
	if fault.Is(err, fault.Missing) || err == nil && o.Kind != Kind {
		return Payout{}, fault.New(fault.Missing, "Payout not found")
	}
	if err != nil {
		return Payout{}, err
	}
	return s.complete(ctx, o)
}

func (s *Service) complete(ctx context.Context, o operation.Operation) (Payout, error) {
	to, err := s.findPayout(ctx, o.Company, o.ID)
	return payoutOf(o, to), err
}

// Notified handles a bank's notification of a payout. Notified does not trust the notification.
// Instead it asks the bank, and treats the bank's reply like the reply to a requery. Notified
// may run any number of times, even in parallel with the resolver.
//
// Notified returns a fault of kind Missing if the payout does not exist. It returns a fault of
// kind Unavailable if the bank does not reply. The caller must then try again, because no job
// asks about a payout after its success or its rejection. If the payout FAILED, the reply "no such
// reference" says nothing new, and ends the questions.
func (s *Service) Notified(ctx context.Context, reference string) error {
	company, err := s.owner(ctx, reference)
	if errors.Is(err, db.ErrNone) {
		return fault.New(fault.Missing, "Payout not found")
	}
	if err != nil {
		return err
	}
	o, err := s.Operations.Find(ctx, company, reference)
	if err != nil || o.State == Reversed {
		return err
	}
	said := s.ask(ctx, o)
	if said.Outcome == provider.Unknown && (o.State == Success || o.State == Failed && !said.Missing) {
		return errBankAway
	}
	_, err = s.Operations.Notified(ctx, company, reference, s.heard(ctx, o, said))
	return err
}
