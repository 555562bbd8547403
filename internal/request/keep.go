package request

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
)

// ClearJob is the kind of the recurring job that deletes old entries.
const ClearJob = "request.clear"

const (
	// mostKept is the number of entries that a company keeps.
	mostKept = 1_000_000
	// clearEvery is the pause between two runs of the job, and clearLimit is the longest run.
	clearEvery = time.Hour
	clearLimit = time.Minute
	// clearMost is the number of entries that one statement deletes.
	clearMost = 5_000
)

// Begin enqueues the first ClearJob, unless there is one.
func (s *Service) Begin(ctx context.Context) error {
	return job.Plan(ctx, s.DB, job.Job{Company: inbox.House, Kind: ClearJob, RunAt: s.Clock.Now().Add(clearEvery)})
}

// Clear runs a ClearJob: it deletes the entries that are older than Keep, and of each company those
// beyond the newest 1,000,000. If a run takes too long, the next run goes on with the next company.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.Clock.Now()
	limited, cancel := context.WithTimeout(ctx, s.sweep.Limit)
	defer cancel()
	for {
		company, err := s.companyAfter(ctx, s.sweep.Done())
		if errors.Is(err, db.ErrNone) {
			s.sweep.Finish("")
			return now.Add(clearEvery), nil
		}
		if err != nil {
			return time.Time{}, err
		}
		before, err := s.oldest(ctx, company, mostKept)
		if err != nil {
			return time.Time{}, err
		}
		before = max(before, position(now.Add(-s.Keep)))
		for more := true; more; {
			deleted, err := s.remove(ctx, company, before, clearMost)
			if err != nil {
				return time.Time{}, err
			}
			if more = deleted == clearMost; !more {
				s.sweep.Finish(company)
			}
			if limited.Err() != nil && ctx.Err() == nil {
				return now, nil
			}
		}
	}
}
