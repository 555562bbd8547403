package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
)

// ClearJob is the kind of the recurring job that removes old stored responses.
const ClearJob = "idempotency.clear"

const (
	// keepMonths is how long the body of a stored response is kept. The row stays for ever, so no
	// request is executed twice.
	keepMonths = 13
	// clearEvery is the time between two runs of the job.
	clearEvery = 24 * time.Hour
	// clearMost is the maximum number of bodies that one SQL statement removes.
	clearMost = 1000
	// clearLimit is the maximum duration of one run. It is shorter than the job's lease.
	clearLimit = time.Minute
)

// Begin adds the recurring job to the job list, unless the list contains it already.
func (s *Service) Begin(ctx context.Context) error {
	return s.db.Insert(ctx, job.Job{Company: inbox.House, Kind: ClearJob, RunAt: s.clock.Now().Add(clearEvery)}.Record())
}

// Clear runs a ClearJob: it removes the bodies of stored responses after 13 months.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now, company := s.clock.Now(), ""
	limited, cancel := context.WithTimeout(ctx, clearLimit)
	defer cancel()
	for {
		switch company, err = s.nextCompany(ctx, company); {
		case errors.Is(err, db.ErrNone):
			return now.Add(clearEvery), nil
		case err != nil:
			return time.Time{}, err
		}
		for n := int64(clearMost); n == clearMost; {
			if limited.Err() != nil && ctx.Err() == nil {
				return now, nil // the next run continues
			}
			if n, err = s.removeBodies(ctx, company, now.AddDate(0, -keepMonths, 0), clearMost); err != nil {
				return time.Time{}, err
			}
		}
	}
}
