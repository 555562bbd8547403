package crypto

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// mayBeFound reports whether a transaction that failed may still be in the chain. This is not so after its block was removed: it
// may have a different effect in a new block, so it needs a new report.
func (t Transaction) mayBeFound() bool { return t.lostAt.IsZero() }

// seek handles the custodian's reply about a failed transaction. "Not found" is not believed for good, because the custodian may
// lack a transaction that is in the chain. If the custodian finds it now, and it had an effect, Kobo records the movement as a
// new transaction, because a failed one keeps its state. Otherwise seek returns the time of the next question. It is zero
// after the last one.
func (s *Service) seek(ctx context.Context, t Transaction, at provider.Inclusion) (next time.Time, err error) {
	now := s.Clock.Now()
	latest, err := s.findSeen(ctx, t.Company, t.seen)
	if err != nil || latest.ID != t.ID { // a report has begun the new transaction already
		return time.Time{}, err
	}
	if at.Found && !at.Reverted && t.isIn(at) {
		found := t
		found.attempt, found.Block = t.attempt+1, at.Block
		err := s.first(ctx, found)
		if ledger.Refused(err) != nil {
			return now, nil // a concurrent request has changed the same rows, so the job runs again
		}
		return time.Time{}, err
	}
	for _, age := range seekAgain {
		if next := t.UpdatedAt.Add(age); next.After(now) {
			return next, nil
		}
	}
	return time.Time{}, nil
}

// late handles a report of a movement whose transaction has failed. A report from before the failure changes nothing. The report
// may be about a different block. Then the movement is a new transaction. If it is about the same block, Kobo asks the
// custodian again.
func (s *Service) late(ctx context.Context, reported, failed Transaction, m provider.Movement) error {
	switch {
	case m.Block == 0 || m.Reverted || failed.isNewerThan(m):
		return nil
	case failed.isTold(m):
		if err := s.confirmNow(ctx, failed); err != nil {
			return err
		}
		return job.Reschedule(ctx, s.DB, failed.Company, ConfirmJob, failed.subject(), s.Clock.Now())
	}
	reported.attempt = failed.attempt + 1
	return s.first(ctx, reported)
}
