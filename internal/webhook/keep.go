package webhook

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
)

// ClearJob is the kind of the standing job that removes old deliveries.
const ClearJob = "webhook.clear"

const (
	// clearEvery is the time between two runs of the job.
	clearEvery = time.Hour
	// clearMost is the most deliveries that one statement removes.
	clearMost = 1000
	// clearLimit is the longest run. It is shorter than the job's lease.
	clearLimit = time.Minute
)

// Begin puts the standing job on the to-do list, unless the list has it.
func (s *Service) Begin(ctx context.Context) error {
	return s.DB.Insert(ctx, job.Job{Company: inbox.House, Kind: ClearJob, RunAt: s.Clock.Now().Add(clearEvery)}.Record())
}

// Clear does the work of a ClearJob. It removes finished deliveries that have not
// changed for Config.Keep. It removes a delivery that waits for a retry only if the
// endpoint is deleted. The events stay, and a company can replay them.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.Clock.Now()
	limited, cancel := context.WithTimeout(ctx, clearLimit)
	defer cancel()
	var last Endpoint
	for {
		page, err := s.endpointsAfter(ctx, last.Company, last.ID, pageSize)
		if err != nil {
			return time.Time{}, err
		}
		for _, e := range page {
			for more := true; more; {
				if limited.Err() != nil && ctx.Err() == nil {
					return now, nil // the next run continues
				}
				if more, err = s.clear(ctx, e, now.Add(-s.Keep)); err != nil {
					return time.Time{}, err
				}
			}
		}
		if len(page) < pageSize {
			return now.Add(clearEvery), nil
		}
		last = page[len(page)-1]
	}
}

// clear removes one batch and reports whether there may be another.
func (s *Service) clear(ctx context.Context, e Endpoint, before time.Time) (more bool, err error) {
	ids, err := s.expired(ctx, e, before, clearMost)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	return len(ids) == clearMost, s.remove(ctx, e.Company, ids)
}
