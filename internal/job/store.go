package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at, provider`

var table = db.Declare[Job]("job", db.Reads(columns), db.KeepFirst())

// queues returns the names of the queues that have a due job without a lease, across all
// companies. It leases no jobs. It finds the names in an index and reads one row for each queue.
// So a long queue takes no more time than a short queue.
func queues(ctx context.Context, q db.Querier, now time.Time) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `
		WITH RECURSIVE lane (name) AS (
			SELECT (SELECT kind || '/' || provider FROM job ORDER BY kind || '/' || provider LIMIT 1)
			UNION ALL
			SELECT (
				SELECT kind || '/' || provider FROM job WHERE kind || '/' || provider > lane.name
				ORDER BY kind || '/' || provider LIMIT 1
			) FROM lane WHERE lane.name IS NOT NULL
		)
		SELECT lane.name FROM lane WHERE lane.name IS NOT NULL AND EXISTS (
			SELECT id FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $1
		) ORDER BY lane.name`, clock.Micros(now))
}

// due returns the due jobs of a queue that have no lease, the most overdue first.
func due(ctx context.Context, q db.Querier, queue string, now time.Time, limit int) ([]Job, error) {
	return db.All(ctx, q, table.Scan, `
		SELECT `+columns+` FROM job
		WHERE kind || '/' || provider = $2 AND run_at <= $1 AND lease_until <= $1 ORDER BY run_at LIMIT $3`,
		clock.Micros(now), queue, limit)
}

// outstanding returns the number of due jobs, with or without a lease.
func outstanding(ctx context.Context, q db.Querier, kinds []string, now time.Time) (int64, error) {
	return db.One(ctx, q, db.Value[int64],
		`SELECT count(company_id) FROM job WHERE run_at <= $1 AND kind = ANY($2)`, clock.Micros(now), kinds)
}

// Subjects returns those of the given subjects for which this company has a job of this kind.
func Subjects(ctx context.Context, q db.Querier, company, kind string, subjects []string) (map[string]bool, error) {
	list, err := db.All(ctx, q, db.Value[string],
		`SELECT subject FROM job WHERE company_id = $1 AND kind = $2 AND subject = ANY($3)`, company, kind, subjects)
	there := map[string]bool{}
	for _, subject := range list {
		there[subject] = true
	}
	return there, err
}

// take leases the jobs of one company and kind with these subjects, and returns the leased jobs.
// It skips jobs that already have a lease.
func take(ctx context.Context, q db.Querier, company, kind string, subjects []string, now, until time.Time) ([]Job, error) {
	return db.All(ctx, q, table.Scan, `
		UPDATE job SET lease_until = $5, fence = fence + 1, attempts = attempts + 1
		WHERE company_id = $1 AND kind = $2 AND subject = ANY($3) AND lease_until <= $4 AND run_at <= $4
		RETURNING `+columns,
		company, kind, subjects, clock.Micros(now), clock.Micros(until))
}

// renew extends a lease. It returns false if the worker no longer has the lease.
func renew(ctx context.Context, q db.Querier, j Job, until time.Time) (bool, error) {
	n, err := q.Exec(ctx, `
		UPDATE job SET lease_until = $6
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5`,
		j.Company, j.Kind, j.Subject, j.ID, j.fence, clock.Micros(until))
	return n > 0, err
}

// finish deletes a job, if the worker still has the job's lease.
func finish(ctx context.Context, q db.Querier, j Job) error {
	_, err := q.Exec(ctx, `DELETE FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5`,
		j.Company, j.Kind, j.Subject, j.ID, j.fence)
	return err
}

// again ends the lease of a job and sets the time of its next run, if the worker still has the
// lease.
func again(ctx context.Context, q db.Querier, j Job, at time.Time, trouble string) error {
	_, err := q.Exec(ctx, `
		UPDATE job SET run_at = $6, lease_until = 0, last_error = $7
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND id = $4 AND fence = $5`,
		j.Company, j.Kind, j.Subject, j.ID, j.fence, clock.Micros(at), trouble)
	return err
}

// Reschedule changes the time of the next run of a job. It does not change a running job.
func Reschedule(ctx context.Context, d *db.DB, company, kind, subject string, at time.Time) error {
	_, err := d.Exec(ctx, `
		UPDATE job SET run_at = $4
		WHERE company_id = $1 AND kind = $2 AND subject = $3 AND lease_until = 0`, company, kind, subject, clock.Micros(at))
	return err
}

// Providers returns the providers of all companies' jobs, except the fintech's own jobs (company
// "house").
func Providers(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string],
		`SELECT DISTINCT provider FROM job WHERE provider <> '' AND company_id <> 'house' ORDER BY provider`)
}
