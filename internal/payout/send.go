package payout

import (
	"cmp"
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
	"github.com/kobo-waas/kobo/internal/settlement"
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

// plan is a payout before its start: before money moves, and before Kobo asks a bank.
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
	if err := s.Settlements.MayPay(ctx, o.Company, v.SettlementID); err != nil {
		return plan{}, err
	}
	if s.Payers.Named(v.Provider) == nil {
		return plan{}, errBankAway
	}
	bands, err := s.Fees(ctx, o.Company)
	if err != nil {
		return plan{}, err
	}
	p := plan{verification: v, operation: operation.Operation{
		// The ledger refuses a second operation with this verify_id.
		Company: o.Company, ID: v.ID, Kind: Kind, IdempotencyKey: v.ID, Provider: v.Provider,
		SettlementID: v.SettlementID, Amount: o.Amount, Fee: bands.Fee(o.Amount),
	}}
	if p.whole, err = s.Limit(ctx, o.Company, 0); err == nil {
		p.own, err = s.Limit(ctx, o.Company, v.SettlementID)
	}
	return p, err
}

// Send pays out. The result may be PENDING: the money is debited, and Kobo follows the
// outcome. It may be FAILED: the money is back. Faults are Refused (nothing was debited),
// Conflict (another request with the same Idempotency-Key is running) and Unavailable.
func (s *Service) Send(ctx context.Context, o Order) (Payout, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Payout{}, err
	}
	if err := s.Companies.MayUsePIN(ctx, o.Company); err != nil {
		return Payout{}, err
	}
	session, err := s.renewed(ctx, p.verification)
	if err != nil {
		return Payout{}, err
	}
	op, v := s.Operations.Start(p.operation), p.verification
	to := order{v, o.Narration}
	u := s.Operations.Unit(op, 0, cmp.Or(o.Narration, "Payout to "+v.AccountName))
	o.Key.Begin(&u, op.ID, op.CalledUntil)
	company.ExpectCredentials(&u, v.credentials) // before the limits: none hides that the verification is void
	count(&u, counters(op, 1, p.whole, p.own))
	u.Append(payouts.Record(payoutRow{op.Company, op.ID, o.Narration, session, op.CreatedAt}))
	event.Emit(&u, event.PayoutPending, payoutOf(op, to))
	if err := s.Book.Commit(ctx, u); err != nil {
		return Payout{}, refused(err)
	}
	o.Key.Begun()
	op, err = s.Operations.Run(ctx, op,
		func(ctx context.Context) provider.Answer {
			return s.heard(ctx, op, s.Payers.Named(op.Provider).Transfer(ctx, provider.TransferOrder{
				Reference: op.ID, NameEnquirySession: session, BankCode: v.BankCode, Account: v.AccountNumber,
				Amount: op.Amount, Narration: cmp.Or(o.Narration, "Payout"), // a bank wants some text
			}))
		},
		func(after operation.Operation, u *ledger.Unit) { o.Key.Finish(u, payoutOf(after, to), nil) })
	if err != nil {
		// The ledger does not hold the bank's answer, so the payout stays PENDING. The
		// resolver asks the bank again.
		s.Log.Error("the outcome of a payout was not written", "company", op.Company, "operation", op.ID, "error", err)
	}
	return payoutOf(op, to), nil
}

// stale is the age from which a payout needs a new name enquiry.
const stale = 15 * time.Minute

// renewed returns the session of a name enquiry to pay by. It repeats an old enquiry before
// anything is debited. If the account has another name by now, the company has not
// agreed to pay it.
func (s *Service) renewed(ctx context.Context, v Verification) (session string, err error) {
	if s.Clock.Now().Sub(v.CreatedAt) <= stale {
		return v.session, nil
	}
	credentials, err := s.Companies.Credentials(ctx, v.Company)
	if err != nil || credentials > v.credentials {
		return v.session, err // the ledger will refuse the void verification, so the bank is not asked
	}
	a, err := s.enquire(ctx, v.Provider, v.BankCode, v.AccountNumber)
	if err == nil && plain(a.Name) != plain(v.AccountName) {
		err = errRenamed
	}
	return a.Session, err
}

// refused explains a refused first unit. The ledger has written nothing, so the verify_id
// stays usable after a refusal for lack of money. A used Idempotency-Key comes before a
// used verify_id.
func refused(err error) error {
	if taken := idempotency.Taken(err); errors.Is(taken, idempotency.ErrInFlight) {
		return taken
	}
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
		return overLimit(r.Count.Name)
	}
	return err
}

// Resume answers a retry under the same Idempotency-Key after a crash of the first try.
// It stores the answer that the first try would have given.
func (s *Service) Resume(ctx context.Context, company, reference string, key *idempotency.Key) (Payout, error) {
	p, err := s.Status(ctx, company, reference)
	if err != nil {
		return Payout{}, err
	}
	return p, key.Resume(ctx, s.Book, p)
}

// Preview is the effect that a payout would have.
type Preview = operation.Preview[money.Kobo]

// Preview tells what Send would do. It writes nothing and calls no bank, so it does not
// know the bank's answer. A missing verification or account is a fault, as in Send.
func (s *Service) Preview(ctx context.Context, o Order) (Preview, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Preview{}, err
	}
	op := s.Operations.Start(p.operation)
	balance, err := s.Book.Balance(ctx, o.Company, settlement.LedgerAccount(op.SettlementID))
	if err != nil {
		return Preview{}, err
	}
	why, err := s.objection(ctx, op, p, balance)
	return operation.NewPreview[money.Kobo](op, balance, why), err
}

// objection returns the ledger's reason to refuse a payout, in the order of the ledger's
// checks: the verify_id, the limit counters, the balance.
func (s *Service) objection(ctx context.Context, o operation.Operation, p plan, balance money.Kobo) (why, err error) {
	_, err = s.Operations.Find(ctx, o.Company, o.ID)
	if !fault.Is(err, fault.Missing) {
		return errUsed, err
	}
	if why = s.Companies.MayUsePIN(ctx, o.Company); fault.Is(why, fault.Refused) {
		return why, nil
	}
	if why != nil {
		return nil, why
	}
	credentials, err := s.Companies.Credentials(ctx, o.Company)
	if err != nil || credentials > p.verification.credentials {
		return errVoid, err
	}
	for _, c := range counters(o, 1, p.whole, p.own) {
		sum, err := s.Book.Last(ctx, o.Company, ledger.Next(c.name))
		if err != nil {
			return nil, err
		}
		if c.limit > 0 && sum > c.limit-c.add {
			return overLimit(c.name), nil
		}
	}
	if balance < o.Amount+o.Fee {
		return errShort, nil
	}
	return nil, nil
}
