package job

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Retry lets a job whose last run has failed run again at once, and calls note in the same transaction.
//
// It returns a fault of kind Missing if no failing job has this id, and one of kind Conflict while the job
// runs. A job that waits for its time has not failed, and nobody hastens it. In particular, nobody hastens
// the polls for the outcome of a payment, since their number and times decide about a refund.
func (w *Worker) Retry(ctx context.Context, jobID string, note func(ctx context.Context, q db.Querier, j Job) error) (Job, error) {
	var j Job
	err := w.db.Tx(ctx, func(q db.Querier) (err error) {
		now := w.clock.Now()
		if j, err = failing(ctx, q, jobID); err != nil {
			return db.Missing(err, "No failing job has this id")
		}
		if j.LeaseUntil.After(now) {
			return errRunning
		}
		moved, err := hastenFailing(ctx, q, j, clock.Micros(now))
		if err == nil && !moved {
			err = errRunning
		}
		if j.RunAt = now; err == nil {
			err = note(ctx, q, j)
		}
		return err
	})
	if err == nil {
		w.Wake()
	}
	if errors.Is(err, errRunning) {
		return j, errRunning
	}
	return j, err
}

var errRunning = fault.New(fault.Conflict, "The job is running")
