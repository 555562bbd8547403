// Package payout sends a company's money to bank accounts.
//
// A payout takes two steps. First Kobo asks the bank for the name on an account, and
// keeps the answer under an id, the verify_id. The company sees the name and then sends
// money by that id, once. A payout is an operation under the same id. Kobo debits amount
// and fee before it asks the bank to pay. It gives them back only after the bank's
// definite no, or when the money comes back later.
package payout

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Kind is the kind of a payout's operation.
const Kind = "payout"

// The states of a payout. Failed and Reversed mean that amount and fee are back. A
// Reversed payout succeeded before.
const (
	Pending  = operation.Pending
	Success  = operation.Success
	Failed   = operation.Failed
	Reversed = operation.Reversed
)

// Payout is money sent to a bank account.
type Payout struct {
	Reference     string // the verify_id
	Amount, Fee   money.Kobo
	Status        operation.State
	AccountName   string
	AccountNumber string
	BankCode      string
	BankName      string
	Narration     string
	SessionID     string // between the banks; "" until the bank has named one
	FailureReason string
	Refunded      bool
	SettlementID  int64
	CreatedAt     time.Time
	CompletedAt   time.Time // zero while PENDING
}

// MarshalJSON is the payout in the form of GET /settlement/payout-status, which its
// events carry too. A test compares the two.
func (p Payout) MarshalJSON() ([]byte, error) {
	var completed *string
	if !p.CompletedAt.IsZero() {
		completed = present(clock.Text(p.CompletedAt))
	}
	return json.Marshal(struct {
		Reference     string     `json:"reference"`
		Amount        money.Kobo `json:"amount"`
		Fee           money.Kobo `json:"fee"`
		Status        string     `json:"status"`
		AccountName   string     `json:"account_name"`
		AccountNumber string     `json:"account_number"`
		BankCode      string     `json:"bank_code"`
		Narration     *string    `json:"narration"`
		CreatedAt     string     `json:"createdAt"`
		BankName      *string    `json:"bank_name"`
		SessionID     *string    `json:"sessionId"`
		FailureReason *string    `json:"failureReason"`
		Refunded      bool       `json:"refunded"`
		SettlementID  int64      `json:"settlementId"`
		CompletedAt   *string    `json:"completedAt"`
	}{
		p.Reference, p.Amount, p.Fee, string(p.Status), p.AccountName, p.AccountNumber, p.BankCode, present(p.Narration),
		clock.Text(p.CreatedAt), present(p.BankName), present(p.SessionID), present(p.FailureReason), p.Refunded,
		p.SettlementID, completed,
	})
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// payoutOf is the payout of an operation.
func payoutOf(o operation.Operation, to order) Payout {
	p := Payout{
		Reference: o.ID, Amount: o.Amount, Fee: o.Fee, Status: o.State,
		AccountName: to.AccountName, AccountNumber: to.AccountNumber, BankCode: to.BankCode, BankName: to.BankName,
		Narration: to.Narration, SessionID: o.ProviderReference, Refunded: o.Refunded(),
		SettlementID: o.SettlementID, CreatedAt: o.CreatedAt,
	}
	if o.Refunded() {
		p.FailureReason = o.Message
	}
	if o.State != Pending {
		p.CompletedAt = o.UpdatedAt
	}
	return p
}

// Service sends payouts.
type Service struct {
	db          *db.DB
	book        *ledger.Book
	clock       clock.Clock
	log         *slog.Logger
	companies   *company.Service
	operations  *operation.Service
	settlements *settlement.Service
	payers      provider.Router[provider.Payer]
}

// New is the service, and registers the kind of its operations. A name enquiry chooses
// the bank of its payout.
func New(d *db.DB, book *ledger.Book, c clock.Clock, log *slog.Logger, companies *company.Service,
	operations *operation.Service, settlements *settlement.Service, payers provider.Router[provider.Payer],
) *Service {
	s := &Service{
		db: d, book: book, clock: c, log: log,
		companies: companies, operations: operations, settlements: settlements, payers: payers,
	}
	operations.Handle(Kind, operation.Kind{Route: route, Requery: s.requery, Effects: s.effects, Returns: true})
	return s
}

func route(o operation.Operation) operation.Route {
	return operation.Route{
		Settlement: settlement.LedgerAccount(o.SettlementID),
		Clearing:   settlement.ClearingAccount(Kind),
		Provider:   settlement.ProviderAccount(o.Provider),
		Fee:        settlement.FeeAccount,
		Charge:     settlement.ChargeAccount(o.Provider),
	}
}

// requery asks the bank of the payout, and no other.
func (s *Service) requery(ctx context.Context, o operation.Operation) provider.Answer {
	return s.heard(ctx, o, s.ask(ctx, o))
}

func (s *Service) ask(ctx context.Context, o operation.Operation) provider.TransferAnswer {
	p := s.payers.Named(o.Provider)
	if p == nil {
		return provider.TransferAnswer{Answer: provider.NotConfigured}
	}
	return p.RequeryTransfer(ctx, o.ID)
}

// heard is the bank's answer in the form that an operation keeps. Its reference is the
// session between the banks, by which the receiver's bank can find the money. A
// confirmed payout counts with its own amount. If the bank names another amount, heard
// opens a case at once, before the bank's statement shows the difference.
func (s *Service) heard(ctx context.Context, o operation.Operation, t provider.TransferAnswer) provider.Answer {
	a := t.Answer
	a.Reference = t.SessionID
	if a.Outcome == provider.Confirmed && t.Amount > 0 && t.Amount != o.Amount && t.Amount != o.Amount+a.Charge {
		detail := fmt.Sprintf("the payout is of %s; %s says that it paid %s", o.Amount, o.Provider, t.Amount)
		if err := s.operations.OpenCase(ctx, o.Company, o.ID, operation.AmountDiffers, detail); err != nil {
			s.log.Error("a case was not opened", "company", o.Company, "operation", o.ID, "detail", detail, "error", err)
		}
	}
	return a
}

// effects adds the event to an outcome. It takes a refunded payout out of the day's
// limit counters.
func (s *Service) effects(ctx context.Context, o operation.Operation, u *ledger.Unit) error {
	p, err := s.complete(ctx, o)
	if err != nil {
		return err
	}
	kind := event.PayoutSuccess
	switch o.State {
	case Failed:
		kind = event.PayoutFailed
	case Reversed:
		kind = event.PayoutReversed
	}
	if o.Refunded() {
		count(u, counters(o, -1, Limit{}, Limit{}))
	}
	event.Emit(u, kind, p)
	return nil
}

// Status is a payout of the company by its reference.
func (s *Service) Status(ctx context.Context, company, reference string) (Payout, error) {
	o, err := s.operations.Find(ctx, company, reference)
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
