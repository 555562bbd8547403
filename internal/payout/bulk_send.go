package payout

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// BulkSendJob is the kind of job that sends the payouts of a confirmed bulk payout, and completes
// the bulk payout.
const BulkSendJob = "payout.bulk_send"

// sending is how long the payouts of a confirmed bulk payout may wait for their turn. A payout that
// was not sent by then is not sent any more, and the resolver asks the bank before it is refunded.
const sending = time.Hour

// Confirmation is a company's confirmation of a bulk payout.
type Confirmation struct {
	Company string
	BulkID  string
	PIN     secret.Text
	Key     *idempotency.Key // nil without an Idempotency-Key
	// Approved is what a second person approves, or nil if nobody has to. Then the PIN was checked when it was asked for.
	Approved *Approved
	// Seen is what the person who sends it has seen, or nil if the caller has seen nothing.
	Seen *Approved
	// Alone reports whether the caller may confirm this amount without a second person. If nil, the caller always may.
	Alone func(ctx context.Context, amount money.Kobo) (bool, error)
}

// Approved is the approval of a bulk payout's confirmation. The one in Confirmation.Seen has neither a digest nor an end.
type Approved struct {
	Lines  int64                // that the person has seen
	Amount money.Kobo           // the same, without fees
	Fee    *money.Kobo          // the same, of the fees; nil if any fees may be taken
	Digest string               // of the lines, as BulkMayWait has returned it; "" in an approval of an earlier version
	End    func(u *ledger.Unit) // adds the end of the approval to the commit that confirms the bulk payout
}

// ErrNotAlone is the refusal of a confirmation that needs a second person.
var ErrNotAlone = fault.New(fault.Refused, "A second person has to approve this bulk payout").With(fault.SecondPersonNeeded)

var errBulkChanged = fault.New(fault.Conflict, "The bulk payout has changed since this was asked for. Ask again.").With(fault.BulkState)

var (
	errNothingGood = fault.New(fault.Refused, "No line can be sent").With(fault.BulkState)
	errBulkVoid    = fault.New(fault.Refused, "Bulk payout no longer valid. Make it again.").With(fault.VerificationExpired)
)

// ConfirmBulk makes each good line of a bulk payout a payout of its own. One ledger unit debits all
// amounts and fees, counts the payouts towards the limits, and confirms the bulk payout. So either
// every good line is debited or none. Afterwards a job sends the payouts.
//
// ConfirmBulk returns a Refused fault, and then debits nothing. It does so if the balance or a limit
// does not cover all lines, if the bulk payout is not CHECKED, if no line is good, or if a different
// payout has used the externalReference of a line. In the last case that line becomes bad, and the
// company may confirm again. The fault is of kind Missing if there is no such bulk payout.
func (s *Service) ConfirmBulk(ctx context.Context, c Confirmation) (Bulk, error) {
	b, err := s.asSeen(ctx, c)
	if err != nil {
		return Bulk{}, err
	}
	u, err := s.confirmation(ctx, &b)
	if err != nil {
		return Bulk{}, err
	}
	shown := b.shown() // what the unit debits: the unit is refused if the bulk payout changes
	if c.Alone != nil {
		if alone, err := c.Alone(ctx, shown.Amount); err != nil {
			return Bulk{}, err
		} else if !alone {
			return Bulk{}, ErrNotAlone
		}
	}
	if a := c.Approved; a != nil {
		if err := b.differs(*a); err != nil {
			return Bulk{}, err
		}
		a.End(&u)
	}
	c.Key.Answer(&u, shown, nil)
	if err := s.Book.Commit(ctx, u); err != nil {
		return Bulk{}, s.unconfirmed(ctx, b, err)
	}
	peer.SetSubject(ctx, b.bulk.ID)
	return shown, nil
}

// differs returns a Conflict fault if a bulk payout is not as a second person has seen it.
func (b bulkState) differs(from Approved) error {
	digest, err := b.digest()
	shown := b.shown()
	switch {
	case err != nil:
		return err
	case from.Digest != "" && from.Digest != digest, from.Lines != int64(len(b.good())), from.Amount != shown.Amount:
		return errBulkChanged
	case from.Fee != nil && *from.Fee != shown.Fee:
		return errFeeChanged
	}
	return nil
}

// BulkStands returns the fault of ConfirmBulk if a bulk payout cannot be confirmed any more as a second person sees it.
// It does not look at the balance and the limits, which may be better later.
func (s *Service) BulkStands(ctx context.Context, reference, bulkID string, a Approved) error {
	b, err := s.confirmable(ctx, reference, bulkID)
	if err != nil {
		return err
	}
	credentials, err := s.Companies.Credentials(ctx, reference)
	if err == nil && credentials > b.bulk.Credentials {
		err = errBulkVoid
	}
	if err != nil {
		return err
	}
	return b.differs(a)
}

func (s *Service) mayConfirm(ctx context.Context, c Confirmation) error {
	if c.Approved != nil {
		return s.Companies.MayUsePIN(ctx, c.Company)
	}
	return s.Companies.CheckPIN(ctx, c.Company, c.PIN.Reveal())
}

// BulkMayWait returns a bulk payout that a second person may confirm, with the digest of its lines, after it has checked
// the PIN. The faults are those of ConfirmBulk, apart from those of the balance and the limits, which count when the bulk
// payout is confirmed.
func (s *Service) BulkMayWait(ctx context.Context, c Confirmation) (Bulk, string, error) {
	b, err := s.asSeen(ctx, c)
	if err != nil {
		return Bulk{}, "", err
	}
	digest, err := b.digest()
	return b.shown(), digest, err
}

// asSeen checks the PIN, and returns a bulk payout that can be confirmed now as the person has seen it.
func (s *Service) asSeen(ctx context.Context, c Confirmation) (bulkState, error) {
	if err := s.mayConfirm(ctx, c); err != nil {
		return bulkState{}, err
	}
	b, err := s.confirmable(ctx, c.Company, c.BulkID)
	if err == nil && c.Seen != nil {
		err = b.differs(*c.Seen)
	}
	return b, err
}

// confirmable returns a bulk payout that can be confirmed now.
func (s *Service) confirmable(ctx context.Context, company, bulkID string) (bulkState, error) {
	b, err := s.readBulk(ctx, company, bulkID)
	switch {
	case err != nil:
	case b.bulk.State == BulkChecked && !s.Clock.Now().Before(b.bulk.ExpiresAt):
		err = errBulkState(BulkCancelled) // its job has not run yet
	case b.bulk.State != BulkChecked:
		err = errBulkState(b.bulk.State)
	case len(b.good()) == 0:
		err = errNothingGood
	case s.Payers.Named(b.bulk.Provider) == nil:
		err = errBankAway
	}
	return b, err
}

// confirmation returns the unit that confirms a bulk payout, and changes b to the confirmed state.
func (s *Service) confirmation(ctx context.Context, b *bulkState) (ledger.Unit, error) {
	u := ledger.For(b.bulk.Company)
	whole, err := s.Limit(ctx, b.bulk.Company, 0)
	if err != nil {
		return u, err
	}
	own, err := s.Limit(ctx, b.bulk.Company, b.bulk.SettlementID)
	if err != nil {
		return u, err
	}
	now := s.Clock.Now()
	b.bulk.State, b.bulk.ConfirmedAt, b.bulk.SendUntil = BulkConfirmed, now, now.Add(sending)
	u.Transition(bulks.Record(b.bulk), string(BulkChecked))
	settlement.ExpectActive(&u, b.bulk.SettlementID)
	company.ExpectCredentials(&u, b.bulk.Credentials)
	var all operation.Operation // the sum of the payouts
	b.operations = map[string]operation.Operation{}
	good := b.good()
	for _, l := range good {
		u.Append(verifications.Record(l.verification(b.bulk)))
	}
	for _, l := range good {
		o := s.Operations.Queue(operation.Operation{
			Company: b.bulk.Company, ID: l.Reference, Kind: Kind, IdempotencyKey: l.Reference, Provider: b.bulk.Provider,
			SettlementID: b.bulk.SettlementID, Amount: l.Amount, Fee: b.fees.Fee(l.Amount), Labels: l.Labels,
		}, b.bulk.SendUntil)
		o.CreatedAt, o.UpdatedAt = now, now // one day for the limits of all lines
		b.operations[o.ID] = o
		all.CreatedAt, all.SettlementID = now, o.SettlementID
		all.Amount += o.Amount
		s.Operations.Add(&u, o, 0, cmp.Or(l.Narration, "Payout to "+l.AccountName))
		u.Append(payouts.Record(payoutRow{o.Company, o.ID, l.Narration, l.Session, o.CreatedAt, o.SettlementID}))
		event.Emit(&u, event.PayoutPending, payoutOf(o, l.order(b.bulk)))
	}
	sums := counters(all, 1, whole, own)
	for i := range sums {
		if sums[i].isCount() {
			sums[i].add = int64(len(good))
		}
	}
	count(&u, sums)
	u.Remove(job.Row(b.bulk.Company, BulkCheckJob, b.bulk.ID))
	u.Append(job.Job{Kind: BulkSendJob, Subject: b.bulk.ID, Provider: b.bulk.Provider, RunAt: now}.For(u.Company))
	return u, nil
}

// verification returns the name enquiry of a good line.
func (l lineRow) verification(b bulkRow) Verification {
	return Verification{
		Company: l.Company, ID: l.Reference, SettlementID: b.SettlementID, Provider: b.Provider, BankCode: l.BankCode, BankName: l.BankName,
		AccountNumber: l.AccountNumber, AccountName: l.AccountName, session: l.Session, credentials: b.Credentials, CreatedAt: l.NamedAt,
	}
}

func (l lineRow) order(b bulkRow) order { return order{l.verification(b), l.Narration} }

// unconfirmed turns the reason why a confirmation was not committed into a fault for the company.
func (s *Service) unconfirmed(ctx context.Context, b bulkState, why error) error {
	if fault.Is(why, fault.Unknown) {
		return why
	}
	if taken := idempotency.Taken(why); errors.Is(taken, idempotency.ErrInFlight) {
		return taken
	}
	_, overtaken := operation.Earlier(why) // by a concurrent confirmation
	switch {
	case overtaken, ledger.Is(why, ledger.Moved, bulks.Table):
		_, err := s.moved(ctx, b.bulk.Company, b.bulk.ID, "")
		return err
	case company.IsVoid(why):
		return errBulkVoid
	case operation.IsReferenceUsed(why):
		return cmp.Or(s.markUsed(ctx, b), error(operation.ErrReferenceUsed))
	}
	if err := s.Settlements.MayPay(ctx, b.bulk.Company, b.bulk.SettlementID); err != nil {
		return err
	}
	return refused(why)
}

// markUsed makes the lines bad whose externalReference a different payout has used since their check.
func (s *Service) markUsed(ctx context.Context, b bulkState) error {
	used, err := s.usedReferences(ctx, b.bulk.Company, b.good())
	if err != nil {
		return err
	}
	u := ledger.For(b.bulk.Company)
	for _, l := range b.good() {
		if used[l.Labels.ExternalReference] {
			l.Verdict, l.Reason = Bad, operation.ErrReferenceUsed.Message
			u.Transition(bulkLines.Record(l), string(Good))
		}
	}
	if u.IsEmpty() {
		return nil
	}
	u.Expect(bulks.Record(b.bulk), string(BulkChecked))
	return ledger.Except(s.Book.Commit(ctx, u), ledger.Moved)
}

// SendBulk runs a BulkSendJob. It sends the payouts that are still in the queue. Then it waits for
// the outcomes, and completes the bulk payout.
func (s *Service) SendBulk(ctx context.Context, j job.Job) (next time.Time, err error) {
	b, err := s.readBulk(ctx, j.Company, j.Subject)
	if err != nil || b.bulk.State != BulkConfirmed {
		return time.Time{}, err
	}
	var queued []lineRow
	for _, l := range b.good() {
		if b.operations[l.Reference].IsQueued(b.bulk.SendUntil) {
			queued = append(queued, l)
		}
	}
	failures := make([]error, min(len(queued), portion))
	s.each(ctx, len(failures), func(i int) { failures[i] = s.sendLine(ctx, b, queued[i]) })
	if len(queued) > 0 {
		next = s.Clock.Now()
		if err := errors.Join(failures...); err != nil {
			s.Log.Warn("some payouts of a bulk payout wait for their next turn", "company", j.Company, "bulk", j.Subject, "error", err)
			next = next.Add(20 * time.Second)
		}
		return next, nil
	}
	return s.completeBulk(ctx, b)
}

// sendLine sends the payout of one line. It returns an error if the line must stay in the queue.
//
// A name that is too old is asked for again before the claim. So is a name from the future, because the clock was ahead
// then. If the account has a different name now, or does not exist any more, the payout is refunded.
//
// A payout that waited too long, or whose database was restored, is only claimed. The row may be from a
// backup, and the bank may have paid it since. So the resolver asks the bank.
func (s *Service) sendLine(ctx context.Context, b bulkState, l lineRow) error {
	o := b.operations[l.Reference]
	if s.SendsHeld != nil && s.SendsHeld() || !s.Clock.Now().Before(b.bulk.SendUntil) {
		_, err := s.Operations.Claim(ctx, o, b.bulk.SendUntil)
		if errors.Is(err, operation.ErrClaimed) {
			return nil
		}
		return err
	}
	o.Labels = l.Labels
	to, p := l.order(b.bulk), s.Payers.Named(o.Provider)
	if p == nil {
		return errBankAway
	}
	session, gone := to.session, error(nil)
	if age := s.Clock.Now().Sub(to.CreatedAt); max(age, -age) > stale {
		a, err := s.enquire(ctx, o.Provider, to.BankCode, to.AccountNumber)
		switch {
		case fault.Is(err, fault.Refused):
			gone = err
		case err != nil:
			return err
		case plain(a.Name) != plain(to.AccountName):
			gone = errRenamed
		}
		session = a.Session
	}
	o, err := s.Operations.Claim(ctx, o, b.bulk.SendUntil)
	if errors.Is(err, operation.ErrClaimed) {
		return nil
	}
	if err != nil {
		return err
	}
	o.Known = to
	_, err = s.Operations.Run(ctx, o, func(ctx context.Context) provider.Answer {
		if gone != nil {
			return provider.Answer{Outcome: provider.Rejected, Unstarted: true, Code: provider.CodeNotSent, Message: fault.Of(gone).Message}
		}
		return s.heard(ctx, o, p.Transfer(ctx, provider.TransferOrder{
			Reference: o.ID, NameEnquirySession: session, BankCode: to.BankCode, Account: to.AccountNumber,
			Amount: o.Amount, Narration: cmp.Or(to.Narration, "Payout"), // a bank requires a narration
		}))
	}, nil)
	if err != nil {
		s.Log.Error("the outcome of a payout was not written", "company", o.Company, "operation", o.ID, "error", err)
	}
	return nil // the payout is not in the queue any more
}

// completeBulk completes a bulk payout if each payout has its outcome. Otherwise it returns the time
// of the next look.
func (s *Service) completeBulk(ctx context.Context, b bulkState) (next time.Time, err error) {
	now, shown := s.Clock.Now(), b.shown()
	if shown.Pending > 0 {
		return now.Add(min(max(now.Sub(b.bulk.ConfirmedAt)/4, 5*time.Second), 10*time.Minute)), nil
	}
	b.bulk.State, b.bulk.EndedAt = BulkCompleted, now
	shown.State, shown.EndedAt = BulkCompleted, clock.Instant{Time: now}
	u := ledger.For(b.bulk.Company)
	u.Transition(bulks.Record(b.bulk), string(BulkConfirmed))
	event.Emit(&u, event.BulkCompleted, shown)
	return time.Time{}, ledger.Except(s.Book.Commit(ctx, u), ledger.Moved)
}
