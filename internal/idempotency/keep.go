package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// ClearJob is the kind of the recurring job that removes old stored responses.
const ClearJob = "idempotency.clear"

const (
	// keepMonths is how long the body of a stored response is kept. The row stays for ever, so no
	// request is executed twice.
	keepMonths = 13
	// clearEvery is the time between two runs of the job.
	clearEvery = 24 * time.Hour
	// clearMost is the maximum number of bodies that one commit removes.
	clearMost = 500
	// clearLimit is the maximum duration of one run. It is shorter than the job's lease.
	clearLimit = time.Minute
)

// Begin adds the recurring job to the job list, unless the list contains it already.
func (s *Service) Begin(ctx context.Context) error {
	return job.Plan(ctx, s.db, job.Job{Company: inbox.House, Kind: ClearJob, RunAt: s.clock.Now().Add(clearEvery)})
}

// Clear runs a ClearJob: it removes the bodies of stored responses after 13 months.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.clock.Now()
	limited, cancel := context.WithTimeout(ctx, s.sweep.Limit)
	defer cancel()
	for {
		company, err := s.nextCompany(ctx, s.sweep.Done())
		switch {
		case errors.Is(err, db.ErrNone):
			s.sweep.Finish("")
			return now.Add(clearEvery), nil
		case err != nil:
			return time.Time{}, err
		}
		for more := true; more; {
			n, err := s.removeOldest(ctx, company, now.AddDate(0, -keepMonths, 0))
			if err != nil {
				return time.Time{}, err
			}
			if more = n == clearMost; !more {
				s.sweep.Finish(company)
			}
			if limited.Err() != nil && ctx.Err() == nil {
				return now, nil // the next run goes on with the next company
			}
		}
	}
}

// removeOldest removes a company's oldest stored responses, at most clearMost, if the Idempotency-Keys
// were used before the given time. It returns the number of removed responses.
func (s *Service) removeOldest(ctx context.Context, company string, before time.Time) (int, error) {
	values, err := s.oldest(ctx, company, before, clearMost)
	if err != nil || len(values) == 0 {
		return 0, err
	}
	u := ledger.For(company)
	removeBodies(&u, values)
	return len(values), s.book.Commit(ctx, u)
}

// removeBodies adds changes to the unit u. The changes remove the stored responses of Idempotency-Keys.
// The ledger signs the rows again.
func removeBodies(u *ledger.Unit, values []string) {
	for _, value := range values {
		u.Transition(table.Record(row{Company: u.Company, Value: value, State: done}), done).Only("body")
	}
}

// Reseal replaces the body of a stored response by the same body, sealed with another master key. It
// reports whether the response still had the old body.
func Reseal(ctx context.Context, book *ledger.Book, company, value, old, body string) (bool, error) {
	u := ledger.For(company)
	u.Transition(table.Record(row{Company: company, Value: value, State: done, Body: body}), done).Only("body").Expect("body", old)
	err := book.Commit(ctx, u)
	return err == nil, ledger.Except(err, ledger.Moved)
}
