package webhook

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
)

// ClearJob is the kind of the recurring job that deletes old deliveries.
const ClearJob = "webhook.clear"

const (
	// clearEvery is the time between two runs of the job.
	clearEvery = time.Hour
	// clearMost is the maximum number of deliveries that one SQL statement deletes.
	clearMost = 1000
	// clearLimit is the maximum duration of one run. It is shorter than the job's lease.
	clearLimit = time.Minute
)

// endpointKey is the key of an endpoint.
type endpointKey struct{ company, id string }

func (e Endpoint) key() endpointKey { return endpointKey{e.Company, e.ID} }

// Begin adds the recurring job to the job list, unless the list contains it already.
func (s *Service) Begin(ctx context.Context) error {
	return job.Plan(ctx, s.DB, job.Job{Company: inbox.House, Kind: ClearJob, RunAt: s.Clock.Now().Add(clearEvery)})
}

// Clear runs a ClearJob: it deletes finished deliveries that have not changed for Config.Keep. It
// deletes a delivery that waits for a retry only if the endpoint is deleted. The events stay in
// the feed, so a company can replay them. Clear also deletes the queues of deleted endpoints.
func (s *Service) Clear(ctx context.Context, _ job.Job) (next time.Time, err error) {
	now := s.Clock.Now()
	if err := s.removeQueues(ctx, now); err != nil {
		return time.Time{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.sweep.Limit)
	defer cancel()
	for {
		last := s.sweep.Done()
		page, err := s.endpointsAfter(ctx, last.company, last.id, pageSize)
		if err != nil {
			return time.Time{}, err
		}
		for _, e := range page {
			if err := s.removeHours(ctx, e.Company, e.ID, now.Add(-s.Keep)); err != nil {
				return time.Time{}, err
			}
			for more := true; more; {
				if more, err = s.clear(ctx, e, now.Add(-s.Keep)); err != nil {
					return time.Time{}, err
				}
				if !more {
					s.sweep.Finish(endpointKey{e.Company, e.ID})
				}
				if limited.Err() != nil && ctx.Err() == nil {
					return now, nil // the next run goes on with the next endpoint
				}
			}
		}
		if len(page) < pageSize {
			s.sweep.Finish(endpointKey{})
			return now.Add(clearEvery), nil
		}
	}
}

// clear deletes one batch of an endpoint's deliveries, and reports whether there may be more.
func (s *Service) clear(ctx context.Context, e Endpoint, before time.Time) (more bool, err error) {
	ids, err := s.expired(ctx, e, before, clearMost)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	return len(ids) == clearMost, s.remove(ctx, e.Company, ids)
}
