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
	// clearEvery is how often old deliveries are looked for, clearMost how many
	// are removed at once.
	clearEvery = time.Hour
	clearMost  = 1000
	// clearLimit is how long that may go on before the job is given back: less
	// than its lease.
	clearLimit = time.Minute
)

// Begin puts the standing job on the list, unless it is there.
func (s *Service) Begin(ctx context.Context) error {
	return s.DB.Insert(ctx, job.New(inbox.House, ClearJob, "", s.Clock.Now().Add(clearEvery)))
}

// Clear is the work of a ClearJob: it removes deliveries that were delivered or
// given up and that nobody has touched for as long as they are kept. One that
// waits to be sent is never removed, unless its endpoint is deleted. The events
// stay, and can be replayed.
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
					return now, nil // and goes on
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

// clear removes one batch, and tells whether there may be another.
func (s *Service) clear(ctx context.Context, e Endpoint, before time.Time) (more bool, err error) {
	ids, err := s.doneWith(ctx, e, before, clearMost)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	return len(ids) == clearMost, s.remove(ctx, e.Company, ids)
}
