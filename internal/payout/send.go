package payout

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Order is a request to send money to the bank account that a verification names.
type Order struct {
	Company   string
	VerifyID  string
	Amount    money.Kobo
	Narration string
	Labels    operation.Labels
	Key       *idempotency.Key // nil without an Idempotency-Key
	// Approval adds the end of an approval to the commit that starts the payout. It is nil if nobody had to approve.
	Approval func(u *ledger.Unit)
	// Fee is the fee that the person who sends the payout, or who approves it, has seen. It is nil if any fee may be taken.
	Fee *money.Kobo
}

var (
	errNoVerification = fault.New(fault.Refused, "Verification not found").With(fault.VerificationNotFound)
	errUsed           = fault.New(fault.Refused, "Verification already used").With(fault.VerificationUsed)
	errShort          = fault.New(fault.Refused, "Insufficient balance").With(fault.InsufficientBalance)
	errVoid           = fault.New(fault.Refused, "Verification no longer valid. Validate the account again.").With(fault.VerificationExpired)
	errFeeChanged     = fault.New(fault.Conflict, "The fee has changed since this was asked for. Ask again.").With(fault.ApprovalState)
	errRenamed        = fault.New(fault.Refused, "Account name has changed. Validate the account again.").With(fault.RecipientChanged)
)

// plan is a payout before its start, when no money has moved and no bank was asked to pay.
type plan struct {
	operation    operation.Operation
	verification Verification
	whole, own   Limit // the company's limit, and the settlement account's limit
}

// plan returns the payout that an order describes. It does not check the account or the bank.
func (s *Service) plan(ctx context.Context, o Order) (plan, error) {
	rows, err := s.findTerms(ctx, o.Company, o.VerifyID)
	if err != nil {
		return plan{}, err
	}
	if len(rows) == 0 {
		return plan{}, errNoVerification
	}
	bands := make(Schedule, len(rows))
	for i, r := range rows {
		bands[i] = r.Band
	}
	v := rows[0].Verification
	p := plan{verification: v, operation: operation.Operation{
		// The ledger refuses a second operation with this ID, so a verify_id pays only once.
		Company: o.Company, ID: v.ID, Kind: Kind, IdempotencyKey: v.ID, Provider: v.Provider,
		SettlementID: v.SettlementID, Amount: o.Amount, Fee: bands.Fee(o.Amount), Labels: o.Labels,
	}}
	p.whole.Amount, p.whole.Payouts = rows[0].whole.Amount, rows[0].whole.Payouts
	p.own.Amount, p.own.Payouts = rows[0].own.Amount, rows[0].own.Payouts
	if o.Fee != nil && *o.Fee != p.operation.Fee {
		return plan{}, errFeeChanged
	}
	return p, nil
}

// Send sends a payout. A PENDING payout is debited, and Kobo asks the bank for its outcome
// later. The money of a FAILED payout is already refunded. Send returns a Refused fault if Kobo
// refuses the payout, and then debits nothing. It returns a Conflict fault while an earlier
// request with the same Idempotency-Key is running. It returns an Unavailable fault if the bank
// cannot be reached before the debit.
func (s *Service) Send(ctx context.Context, o Order) (Payout, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Payout{}, err
	}
	v := p.verification
	to := order{v, o.Narration}
	op, session, err := s.begin(ctx, p, to, o)
	if err != nil {
		return Payout{}, s.unstarted(ctx, p.operation, err)
	}
	op.Known = to
	op, err = s.Operations.Run(ctx, op,
		func(ctx context.Context) provider.Answer {
			return s.heard(ctx, op, s.Payers.Named(op.Provider).Transfer(ctx, provider.TransferOrder{
				Reference: op.ID, NameEnquirySession: session, BankCode: v.BankCode, Account: v.AccountNumber,
				Amount: op.Amount, Narration: cmp.Or(o.Narration, "Payout"), // a bank requires a narration
			}))
		},
		func(after operation.Operation, u *ledger.Unit) { o.Key.Finish(u, payoutOf(after, to), nil) })
	if err != nil {
		// The bank's reply is not in the ledger, so the payout stays PENDING. The resolver will ask
		// the bank again.
		s.Log.Error("the outcome of a payout was not written", "company", op.Company, "operation", op.ID, "error", err)
	}
	return payoutOf(op, to), nil
}

// begin writes the operation of a payout and debits the amount and the fee. It also returns the
// session of the name enquiry for the transfer order. The ledger checks in the commit that the
// account may pay.
func (s *Service) begin(ctx context.Context, p plan, to order, o Order) (op operation.Operation, session string, err error) {
	if s.Payers.Named(p.operation.Provider) == nil {
		return op, "", errBankAway
	}
	if err := s.Companies.MayUsePIN(ctx, p.operation.Company); err != nil {
		return op, "", err
	}
	if session, err = s.renewed(ctx, p.verification); err != nil {
		return op, "", err
	}
	op = s.Operations.Start(p.operation) // after the enquiry, whose time does not count towards the window
	u := s.Operations.Unit(op, 0, cmp.Or(to.Narration, "Payout to "+to.AccountName))
	settlement.ExpectActive(&u, op.SettlementID)
	o.Key.Begin(&u, op.ID, op.CalledUntil)
	// The credentials are checked before the limits. Otherwise an exceeded limit would hide that
	// the verification is invalidated.
	company.ExpectCredentials(&u, p.verification.credentials)
	count(&u, counters(op, 1, p.whole, p.own))
	u.Append(payouts.Record(payoutRow{op.Company, op.ID, to.Narration, session, op.CreatedAt, op.SettlementID}))
	event.Emit(&u, event.PayoutPending, payoutOf(op, to))
	if o.Approval != nil {
		o.Approval(&u)
	}
	if err = s.Book.Commit(ctx, u); err == nil {
		peer.SetSubject(ctx, op.ID)
	}
	return op, session, err
}

// unstarted turns the reason why a payout was not committed into a fault for the company. A verify_id
// that was used takes precedence over any other reason, and then an account that may not pay.
func (s *Service) unstarted(ctx context.Context, op operation.Operation, why error) error {
	if fault.Is(why, fault.Unknown) {
		return why
	}
	why = refused(why)
	if errors.Is(why, errUsed) || errors.Is(why, idempotency.ErrInFlight) {
		return why
	}
	used, err := s.used(ctx, op)
	if err == nil && used {
		err = errUsed
	}
	if err == nil {
		err = s.Settlements.MayPay(ctx, op.Company, op.SettlementID)
	}
	if err == nil {
		err = why
	}
	return err
}

// used reports whether the verify_id of a payout was used by an earlier payout. Whatever became of the PIN, the account
// or the bank since, another reason would lead the company to a second payment. No unit has checked that a standby has the
// earlier payout, so used proves it.
func (s *Service) used(ctx context.Context, op operation.Operation) (bool, error) {
	switch _, err := s.Operations.Find(ctx, op.Company, op.ID); {
	case fault.Is(err, fault.Missing):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, s.Book.Prove(ctx, op.Company)
}

// stale is the age from which a name enquiry must be repeated before its payout.
const stale = 15 * time.Minute

// renewed returns the session of a name enquiry that is recent enough for a payout. If the
// enquiry is too old, renewed repeats it before the payout is debited. So it does with one from the
// future, because the clock was ahead then. If the account now has a different name, renewed returns
// errRenamed, because the company agreed only to the old name.
func (s *Service) renewed(ctx context.Context, v Verification) (session string, err error) {
	if age := s.Clock.Now().Sub(v.CreatedAt); max(age, -age) <= stale {
		return v.session, nil
	}
	credentials, err := s.Companies.Credentials(ctx, v.Company)
	if err != nil || credentials > v.credentials {
		return v.session, err // the ledger will refuse the invalidated verification, so the bank is not asked
	}
	a, err := s.enquire(ctx, v.Provider, v.BankCode, v.AccountNumber)
	if err == nil && plain(a.Name) != plain(v.AccountName) {
		err = errRenamed
	}
	return a.Session, err
}

// refused turns the ledger's refusal to start a payout into a fault for the company. The ledger has
// written nothing, so the verify_id stays usable after "Insufficient balance". If both the
// Idempotency-Key and the verify_id were used before, refused reports the Idempotency-Key.
func refused(err error) error {
	if taken := idempotency.Taken(err); errors.Is(taken, idempotency.ErrInFlight) {
		return taken
	}
	if _, used := operation.Earlier(err); used {
		return errUsed
	}
	if operation.IsReferenceUsed(err) {
		return operation.ErrReferenceUsed
	}
	r := ledger.Refused(err)
	if inactive := settlement.MayNotPay(err); inactive != nil {
		return inactive
	}
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

// Resume returns the payout for a retry with the same Idempotency-Key, after Kobo crashed during
// the first request. Resume also stores this payout as the stored response of the
// Idempotency-Key.
func (s *Service) Resume(ctx context.Context, company, reference string, key *idempotency.Key) (Payout, error) {
	p, err := s.Status(ctx, company, reference)
	if err != nil {
		return Payout{}, err
	}
	return p, key.Resume(ctx, s.Book, p)
}

// MayWait returns the account that an order pays, and the fee. It returns the fault with which Send would refuse the
// payout now, so that nothing waits for an approval that cannot be sent.
func (s *Service) MayWait(ctx context.Context, o Order) (Verification, money.Kobo, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Verification{}, 0, err
	}
	_, why, err := s.previewed(ctx, o, p)
	if err == nil {
		err = why
	}
	return p.verification, p.operation.Fee, err
}

// Preview is the effect that a payout would have on the balance, or the reason for a refusal.
type Preview = operation.Preview[money.Kobo]

// Preview returns what Send would do. It writes nothing and calls no bank, so it cannot foresee
// the bank's reply. If the verification or the account is missing, Preview returns a fault, as
// Send does.
func (s *Service) Preview(ctx context.Context, o Order) (Preview, error) {
	p, err := s.plan(ctx, o)
	if err != nil {
		return Preview{}, err
	}
	out, _, err := s.previewed(ctx, o, p)
	return out, err
}

// previewed returns the preview of a payout, and the reason for a refusal.
func (s *Service) previewed(ctx context.Context, o Order, p plan) (out Preview, why, err error) {
	op := s.Operations.Start(p.operation)
	if err := s.Settlements.MayPay(ctx, op.Company, op.SettlementID); err != nil {
		return Preview{}, nil, s.unstarted(ctx, op, err)
	}
	if s.Payers.Named(op.Provider) == nil {
		return Preview{}, nil, s.unstarted(ctx, op, errBankAway)
	}
	balance, err := s.Book.Balance(ctx, o.Company, settlement.LedgerAccount(op.SettlementID))
	if err != nil {
		return Preview{}, nil, err
	}
	why, err = s.objection(ctx, op, p, balance)
	return operation.NewPreview[money.Kobo](op, balance, why), why, err
}

// objection returns the first reason for which Send would refuse a payout, or nil. It checks in
// Send's order: the verify_id, the externalReference, the PIN, the credentials, the limit counters, the balance.
func (s *Service) objection(ctx context.Context, o operation.Operation, p plan, balance money.Kobo) (why, err error) {
	if used, err := s.used(ctx, o); used || err != nil {
		return errUsed, err
	}
	if taken, err := s.Operations.Referenced(ctx, o.Company, Kind, o.Labels.ExternalReference); taken || err != nil {
		return operation.ErrReferenceUsed, err
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
