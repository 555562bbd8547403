package report

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
)

// Queue is the state of the jobs of one kind and one provider.
type Queue struct {
	Kind     string
	Provider string    // "" for jobs that call no provider
	Waiting  int64     // the jobs in the queue; at most 10,000
	Due      int64     // how many of them should run by now; at most 10,000
	DueSince time.Time // since when the oldest of those is due; zero if none is
	NextAt   time.Time // when the first job of the queue runs or should have run
}

// FailingJob is a job whose last run has failed. It runs again by itself.
type FailingJob struct {
	Company    string
	Kind       string
	Subject    string
	ID         string
	RunAt      time.Time // when it runs again
	LeaseUntil time.Time // until when a worker has it; in the past or zero if none has it
	Attempts   int64
	Trouble    string // the error of the last run, with long numbers masked
	Provider   string
	CreatedAt  time.Time
}

// IsRunning reports whether a worker has the job.
func (j FailingJob) IsRunning(now time.Time) bool { return j.LeaseUntil.After(now) }

// mostFailing is the number of failing jobs that Jobs returns.
const mostFailing = 200

// Jobs returns all job queues, and the oldest of the failing jobs, at most 200.
func (s *Service) Jobs(ctx context.Context) (queues []Queue, failing []FailingJob, err error) {
	err = s.db.Ordered(ctx, func(q db.Querier) (err error) {
		if queues, err = jobQueues(ctx, q, s.db.Routed(), s.clock.Now()); err == nil {
			failing, err = failingJobs(ctx, q)
		}
		return err
	})
	for i, j := range failing {
		failing[i].Trouble = MaskText(j.Trouble)
	}
	return queues, failing, err
}

// allJobQueues does in a routed database what jobQueues does. It reads all jobs.
const allJobQueues = `
		SELECT kind || '/' || provider AS name, count(*), count(*) FILTER (WHERE run_at <= $1 AND lease_until <= $1),
			coalesce(min(run_at) FILTER (WHERE run_at <= $1 AND lease_until <= $1), 0), coalesce(min(run_at), 0)
		FROM job GROUP BY kind || '/' || provider ORDER BY name`

func jobQueues(ctx context.Context, q db.Querier, routed bool, now time.Time) ([]Queue, error) {
	scan := func(sc db.Scanner) (out Queue, err error) {
		var name string
		var since, next int64
		err = sc.Scan(&name, &out.Waiting, &out.Due, &since, &next)
		out.Kind, out.Provider, _ = strings.Cut(name, "/")
		out.DueSince, out.NextAt = clock.Time(since), clock.Time(next)
		return out, err
	}
	if routed {
		return db.All(ctx, q, scan, allJobQueues, clock.Micros(now))
	}
	return db.All(ctx, q, scan, lanes+`
		SELECT lane.name, (
			SELECT count(*) FROM (SELECT id FROM job WHERE kind || '/' || provider = lane.name ORDER BY run_at LIMIT 10000) AS waiting
		), (
			SELECT count(*) FROM (SELECT id FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $1 ORDER BY run_at LIMIT 10000) AS due
		), coalesce((
			SELECT run_at FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $1 ORDER BY run_at LIMIT 1
		), 0), coalesce((
			SELECT run_at FROM job WHERE kind || '/' || provider = lane.name ORDER BY run_at LIMIT 1
		), 0) FROM lane WHERE lane.name IS NOT NULL ORDER BY lane.name`, clock.Micros(now))
}

func failingJobs(ctx context.Context, q db.Querier) ([]FailingJob, error) {
	return db.All(ctx, q, db.Fields[FailingJob], `
		SELECT company_id, kind, subject, id, run_at, lease_until, attempts, last_error, provider, created_at
		FROM job WHERE last_error <> '' ORDER BY id LIMIT $1`, mostFailing)
}

// Failing returns a job as the list of failing jobs shows it.
func Failing(j job.Job) FailingJob {
	return FailingJob{j.Company, j.Kind, j.Subject, j.ID, j.RunAt, j.LeaseUntil, j.Attempts, MaskText(j.LastError), j.Provider, j.CreatedAt}
}
