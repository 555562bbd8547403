package payout

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// BulkCheckJob is the kind of job that asks for the names of a bulk payout's accounts, and that
// cancels the bulk payout if nobody confirms it.
const BulkCheckJob = "payout.bulk_check"

const (
	// unconfirmed is how long a bulk payout waits for its confirmation.
	unconfirmed = 24 * time.Hour
	// enquiries is how often Kobo asks for a name if the bank does not answer.
	enquiries = 4
	// parallel is the number of concurrent calls to the bank for one bulk payout.
	parallel = 4
	// busy is how long one run of a job makes calls. The next run continues.
	busy = 30 * time.Second
	// portion is the most lines of one run.
	portion = 200
	// mostLines is the most lines of a bulk payout.
	mostLines = 1000
)

// BulkOrder is a company's request for a bulk payout.
type BulkOrder struct {
	Company      string
	SettlementID int64
	PIN          secret.Text
	Lines        []LineOrder
	Key          *idempotency.Key // nil without an Idempotency-Key
}

// LineOrder is one line of a request for a bulk payout.
type LineOrder struct {
	BankCode      string
	AccountNumber string
	Amount        money.Kobo
	Narration     string
	Labels        operation.Labels
	FileLine      int64 // the number of the line in the company's file; 0 if the line comes from no file
}

// check returns a fault of kind Invalid if the lines cannot belong to one bulk payout.
func (o BulkOrder) check() error {
	if len(o.Lines) == 0 || len(o.Lines) > mostLines {
		return fault.Newf(fault.Invalid, `"lines" must contain 1 to %d lines`, mostLines)
	}
	seen, total := map[string]int{}, money.Kobo(0)
	for i, l := range o.Lines {
		if l.Amount <= 0 || l.Amount > money.Max {
			return fault.Newf(fault.Invalid, `"lines[%d].amount" is out of range`, i)
		}
		if total += l.Amount; total > money.Max {
			return fault.New(fault.Invalid, "The sum of the lines "+money.ErrRange.Error())
		}
		reference := l.Labels.ExternalReference
		if first, used := seen[reference]; used && reference != "" {
			return fault.Newf(fault.Invalid, `"lines[%d].externalReference" is the same as in lines[%d]`, i, first)
		}
		seen[reference] = i
	}
	return nil
}

// OpenBulk stores a bulk payout, and asks the bank for the names of its accounts in the background.
// It checks the PIN first, so that a caller without the PIN learns nothing. No money moves. OpenBulk
// returns an Invalid fault if two lines have the same externalReference, and a Refused fault if the
// settlement account may not pay.
func (s *Service) OpenBulk(ctx context.Context, o BulkOrder) (Bulk, error) {
	if err := o.check(); err != nil {
		return Bulk{}, err
	}
	credentials, err := s.Companies.Credentials(ctx, o.Company) // before the PIN, as in Validate
	if err != nil {
		return Bulk{}, err
	}
	if err := s.Companies.CheckPIN(ctx, o.Company, o.PIN.Reveal()); err != nil {
		return Bulk{}, err
	}
	if err := s.Settlements.MayPay(ctx, o.Company, o.SettlementID); err != nil {
		return Bulk{}, err
	}
	payer, _ := s.Payers.For(provider.Payouts, o.Company)
	now := s.Clock.Now()
	b := bulkState{bulk: bulkRow{
		Company: o.Company, ID: id.New(), State: BulkChecking, SettlementID: o.SettlementID, Provider: payer,
		Credentials: credentials, CreatedAt: now, ExpiresAt: now.Add(unconfirmed),
	}}
	u := ledger.For(o.Company)
	u.Append(bulks.Record(b.bulk))
	for i, l := range o.Lines {
		b.lines = append(b.lines, lineRow{
			Company: o.Company, BulkID: b.bulk.ID, Line: int64(i + 1), Verdict: Unchecked, Reference: id.New(),
			BankCode: l.BankCode, AccountNumber: l.AccountNumber, Amount: l.Amount, Narration: l.Narration, Labels: l.Labels, FileLine: l.FileLine,
		})
		u.Append(bulkLines.Record(b.lines[i]))
	}
	u.Append(b.bulk.checkJob(now).For(o.Company))
	shown := b.shown()
	o.Key.Answer(&u, shown, nil)
	return shown, idempotency.Taken(s.Book.Commit(ctx, u))
}

func (b bulkRow) checkJob(at time.Time) job.Job {
	return job.Job{Kind: BulkCheckJob, Subject: b.ID, Provider: b.Provider, RunAt: at}
}

// CheckBulk runs a BulkCheckJob.
func (s *Service) CheckBulk(ctx context.Context, j job.Job) (next time.Time, err error) {
	b, err := s.readBulk(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	now := s.Clock.Now()
	switch {
	case b.bulk.State != BulkChecking && b.bulk.State != BulkChecked:
		return time.Time{}, nil
	case !now.Before(b.bulk.ExpiresAt):
		_, err := s.endBulk(ctx, b, nil)
		return time.Time{}, ledger.Except(err, ledger.Moved)
	case b.bulk.State == BulkChecked:
		return b.bulk.ExpiresAt, nil
	}
	return s.nameLines(ctx, b)
}

// nameLines asks for the names of lines, and stores the verdicts. If each line has its verdict, the
// bulk payout becomes CHECKED.
func (s *Service) nameLines(ctx context.Context, b bulkState) (next time.Time, err error) {
	unchecked := slices.DeleteFunc(slices.Clone(b.lines), func(l lineRow) bool { return l.Verdict != Unchecked })
	lines := unchecked[:min(len(unchecked), portion)]
	used, err := s.usedReferences(ctx, b.bulk.Company, lines)
	if err != nil {
		return time.Time{}, err
	}
	if err := s.markDoubles(ctx, b.bulk.Company, lines); err != nil {
		return time.Time{}, err
	}
	verdicts := make([]lineRow, len(lines))
	s.each(ctx, len(lines), func(i int) { verdicts[i] = s.named(ctx, b.bulk, lines[i], used[lines[i].Labels.ExternalReference]) })
	u := ledger.For(b.bulk.Company)
	now, silent := s.Clock.Now(), false
	for _, l := range verdicts {
		if l.Line == 0 {
			continue // this run has not asked for it
		}
		u.Transition(bulkLines.Record(l), string(Unchecked))
		b.lines[l.Line-1] = l
		silent = silent || l.Verdict == Unchecked
	}
	shown := b.shown()
	if shown.Checking == 0 {
		b.bulk.State, b.bulk.CheckedAt, shown.State, shown.CheckedAt = BulkChecked, now, BulkChecked, clock.Instant{Time: now}
		u.Transition(bulks.Record(b.bulk), string(BulkChecking))
		event.Emit(&u, event.BulkChecked, shown)
		next = b.bulk.ExpiresAt
	} else {
		u.Expect(bulks.Record(b.bulk), string(BulkChecking))
		if next = now; silent {
			next = now.Add(20 * time.Second)
		}
	}
	if err := s.Book.Commit(ctx, u); err != nil {
		if ledger.Is(err, ledger.Moved) { // it was cancelled, or another worker has asked too
			return now.Add(time.Second), nil
		}
		return time.Time{}, err
	}
	return next, nil
}

// named asks the bank for the name on a line's account, and returns the line with its verdict.
func (s *Service) named(ctx context.Context, b bulkRow, l lineRow, used bool) lineRow {
	if used {
		l.Verdict, l.Reason = Bad, operation.ErrReferenceUsed.Message
		return l
	}
	bank, err := s.bankName(ctx, b.Provider, l.BankCode)
	asked := s.Clock.Now() // the bank counts the age of its session from the question
	var a provider.NameAnswer
	if err == nil {
		a, err = s.enquire(ctx, b.Provider, l.BankCode, l.AccountNumber)
	}
	switch {
	case err == nil:
		l.Verdict, l.BankName, l.AccountName, l.Session, l.NamedAt = Good, bank, a.Name, a.Session, asked
	case fault.Is(err, fault.Refused):
		l.Verdict, l.BankName, l.Reason = Bad, bank, fault.Of(err).Message
	default:
		if l.Attempts++; l.Attempts >= enquiries {
			l.Verdict, l.Reason = Bad, "The bank did not give the name of the account"
		}
	}
	return l
}

// usedReferences returns which externalReferences of lines earlier payouts have.
func (s *Service) usedReferences(ctx context.Context, company string, lines []lineRow) (map[string]bool, error) {
	var references []string
	for _, l := range lines {
		if l.Labels.ExternalReference != "" {
			references = append(references, l.Labels.ExternalReference)
		}
	}
	used := map[string]bool{}
	if len(references) == 0 {
		return used, nil
	}
	all, err := s.Operations.ReferencesOf(ctx, company, Kind, references)
	for _, r := range all {
		used[r] = true
	}
	return used, err
}

// each calls do for the numbers from 0 to n-1, several at a time. It begins no further call after
// the time for one run, or after the end of ctx.
func (s *Service) each(ctx context.Context, n int, do func(i int)) {
	end := s.Clock.Now().Add(busy)
	var all sync.WaitGroup
	numbers := make(chan int)
	for range min(parallel, n) {
		all.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil && s.Clock.Now().Before(end); i++ {
		numbers <- i
	}
	close(numbers)
	all.Wait()
}

// CancelBulk cancels a bulk payout that is not confirmed. It returns a bulk payout that was cancelled
// before unchanged. It returns a Refused fault if the bulk payout is confirmed, and a fault of kind
// Missing if there is none.
func (s *Service) CancelBulk(ctx context.Context, company, bulkID string, key *idempotency.Key) (Bulk, error) {
	b, err := s.readBulk(ctx, company, bulkID)
	if err != nil || b.bulk.State == BulkCancelled {
		return b.shown(), err
	}
	shown, err := s.endBulk(ctx, b, key)
	if ledger.Is(err, ledger.Moved) {
		return s.moved(ctx, company, bulkID, BulkCancelled)
	}
	return shown, idempotency.Taken(err)
}

// endBulk cancels a bulk payout.
func (s *Service) endBulk(ctx context.Context, b bulkState, key *idempotency.Key) (Bulk, error) {
	b.bulk.State, b.bulk.EndedAt = BulkCancelled, s.Clock.Now()
	u := ledger.For(b.bulk.Company)
	u.Transition(bulks.Record(b.bulk), string(BulkChecking), string(BulkChecked))
	u.Remove(job.Row(b.bulk.Company, BulkCheckJob, b.bulk.ID))
	shown := b.shown()
	key.Answer(&u, shown, nil)
	return shown, s.Book.Commit(ctx, u)
}

// moved returns the fault for a request that a different request has overtaken. If the bulk payout
// is in the state that the request wanted, moved returns the bulk payout.
func (s *Service) moved(ctx context.Context, company, bulkID string, want BulkState) (Bulk, error) {
	b, err := s.readBulk(ctx, company, bulkID)
	if err == nil && b.bulk.State != want {
		err = errBulkState(b.bulk.State)
	}
	return b.shown(), err
}

func errBulkState(state BulkState) error {
	return fault.Newf(fault.Refused, "Bulk payout is %s", state).With(fault.BulkState)
}
