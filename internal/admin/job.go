package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

func (e *edge) listJobs(ctx context.Context, _ *request) (any, error) {
	queues, failing, err := e.Reports.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	return Jobs{
		Queues: rows(queues, func(q report.Queue) JobQueue {
			return JobQueue{q.Kind, wire.Optional(q.Provider), q.Waiting, q.Due, clock.Optional(q.DueSince), clock.Optional(q.NextAt)}
		}),
		Failing: rows(failing, e.failingJobOf),
	}, nil
}

func (e *edge) failingJobOf(j report.FailingJob) FailingJob {
	return FailingJob{
		ID: j.ID, Company: j.Company, Kind: j.Kind, Provider: wire.Optional(j.Provider), Subject: j.Subject, Attempts: j.Attempts,
		Trouble: j.Trouble, Running: j.IsRunning(e.Clock.Now()), NextAt: clock.Text(j.RunAt), CreatedAt: clock.Text(j.CreatedAt),
	}
}

// runJob lets a failing job run now. The line of the audit log is in the same commit.
func (e *edge) runJob(ctx context.Context, r *request, _ NoRequest) (any, error) {
	j, err := e.Operators.RunJob(ctx, r.by, e.Worker, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return e.failingJobOf(report.Failing(j)), nil
}
