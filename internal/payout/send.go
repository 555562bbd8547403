package payout

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Order is money to send to the account of a verification.
type Order struct {
	Company   string
	VerifyID  string
	Amount    money.Kobo
	Narration string
	Key       *idempotency.Key // nil for none
}

var (
	errNoVerification = fault.New(fault.Refused, "Verification not found")
	errUsed           = fault.New(fault.Refused, "Verification already used")
	errShort          = fault.New(fault.Refused, "Insufficient balance")
	errVoid           = fault.New(fault.Refused, "Verification no longer valid. Validate the account again.")
	errRenamed        = fault.New(fault.Refused, "Account name has changed. Validate the account again.")
)

// plan is a payout that could be sent: everything that is known before money
// moves or a bank is asked. The operation is not started.
type plan struct {
	operation    operation.Operation
	verification Verification
	whole, own   Limit // of the company, and of the settlement account
}

func (s *Service) plan(ctx context.Context, o Order) (plan, error) {
	v, err := s.findVerification(ctx, o.Company, o.VerifyID)
	if errors.Is(err, db.ErrNone) {
		return plan{}, errNoVerification
	}
	if err != nil {
		return plan{}, err
	}
	if err := s.mayPay(ctx, o.Company, v.SettlementID); err != nil {
		return plan{}, err
	}
	if s.payers[v.Provider] == nil {
		return plan{}, errBankAway
	}
	bands, err := s.Fees(ctx, o.Company)
	if err != nil {
		return plan{}, err
	}
	p := plan{verification: v, operation: operation.Operation{
		// The verify_id is the claim: a second operation with it is refused.
		Company: o.Company, ID: v.ID, Kind: Kind, IdempotencyKey: v.ID, Provider: v.Provider,
		SettlementID: v.SettlementID, Amount: o.Amount, Fee: bands.Fee(o.Amount),
	}}
	p.whole, p.own, err = s.limits(ctx, o.Company, v.SettlementID)
	return p, err
}

// Send pays out. The payout that comes back may be PENDING: then the money is
// debited and the outcome is being followed; or FAILED: then it is back. Faults
// are Refused (nothing was debited), Conflict (the same Idempotency-Key is at
// work right now) and Unavailable.
func (s *Service) Send(ctx context.Context, o Order) (Payout, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Payout{}, err
	}
	if err := s.companies.MayUsePIN(ctx, o.Company); err != nil {
		return Payout{}, err
	}
	session, err := s.renewed(ctx, p.verification)
	if err != nil {
		return Payout{}, err
	}
	op, v := s.operations.Start(p.operation), p.verification
	u := s.operations.Unit(op, 0, statementLine(v, o.Narration))
	// The key first: a repeated request is told that it is at work, and not that
	// its verify_id is used.
	u.Claims = append(o.Key.Running(op.ID, op.CalledUntil), u.Claims...)
	u.Tallies = tallies(op, 1, p.whole, p.own)
	company.ExpectCredentials(&u, v.credentials)
	u.Notes = append(u.Notes, payoutRecord(op, o.Narration, session),
		event.New(op.Company, event.PayoutPending, of(op, v, o.Narration)))
	if err := s.book.Commit(ctx, u); err != nil {
		return Payout{}, refused(err)
	}
	o.Key.Begun()
	op, err = s.operations.Run(ctx, op,
		func(ctx context.Context) provider.Answer {
			return s.heard(ctx, op, s.payers[op.Provider].Transfer(ctx, provider.TransferOrder{
				Reference: op.ID, NameEnquirySession: session, BankCode: v.BankCode, Account: v.AccountNumber,
				Amount: op.Amount, Narration: bankLine(o.Narration),
			}))
		},
		func(after operation.Operation, u *ledger.Unit) { o.Key.Finish(u, of(after, v, o.Narration), nil) })
	if err != nil {
		// The bank has been asked and what it said is not in the book: that is what
		// PENDING means. The resolver will ask again.
		s.log.Error("the outcome of a payout was not written", "company", op.Company, "operation", op.ID, "error", err)
	}
	return of(op, v, o.Narration), nil
}

// statementLine is what the company's own statement says of a payout.
func statementLine(v Verification, narration string) string {
	if narration != "" {
		return narration
	}
	return "Payout to " + v.AccountName
}

// bankLine is what the bank is told; it wants something.
func bankLine(narration string) string {
	if narration != "" {
		return narration
	}
	return "Payout"
}

// stale is how old a name enquiry may be when its payout is made.
const stale = 15 * time.Minute

// renewed is the name enquiry's session to pay by. One that has grown old is
// asked for again, before anything is debited: if the account has another name
// by now, the company has not agreed to pay it.
func (s *Service) renewed(ctx context.Context, v Verification) (session string, err error) {
	if s.clock.Now().Sub(v.CreatedAt) <= stale {
		return v.session, nil
	}
	a, err := s.enquire(ctx, v.Provider, v.BankCode, v.AccountNumber)
	if err == nil && plain(a.Name) != plain(v.AccountName) {
		err = errRenamed
	}
	return a.Session, err
}

// refused answers for a first unit that the book did not take. Nothing of it was
// written, so the verify_id of a payout that could not be afforded stays good.
func refused(err error) error {
	if _, used := operation.Earlier(err); used {
		return errUsed
	}
	r := ledger.Refused(err)
	switch {
	case company.IsVoid(err):
		return errVoid
	case r != nil && r.Reason == ledger.Short:
		return errShort
	case r != nil && r.Reason == ledger.Over:
		return overLimit(r.Tally.Name)
	}
	return idempotency.Taken(err)
}

// Resume answers a request whose first try, under the same Idempotency-Key, was
// cut off after it had begun: with the answer that try would have given, which
// it stores.
func (s *Service) Resume(ctx context.Context, company, reference string, key *idempotency.Key) (Payout, error) {
	p, err := s.Status(ctx, company, reference)
	if err != nil {
		return Payout{}, err
	}
	return p, key.Resume(ctx, s.book, p)
}
