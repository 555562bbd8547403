package operator

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
)

// RunJob lets a failing job of any company run now. The line of the audit log is in the same commit. It
// returns the faults of job.Worker.Retry.
func (s *Service) RunJob(ctx context.Context, by Operator, w *job.Worker, jobID string) (job.Job, error) {
	return w.Retry(ctx, jobID, func(ctx context.Context, q db.Querier, j job.Job) error {
		return s.NoteIn(ctx, q, by, "job.run", j.ID, map[string]string{"kind": j.Kind, "about": j.Subject, "company": j.Company})
	})
}
