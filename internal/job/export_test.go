package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// HasNews reports whether the worker's next round reads the job list.
func (w *Worker) HasNews() bool { return w.news.Load() }

// Told returns the subjects of the jobs of which the ledger has told the worker, and whether the
// worker is woken.
func (w *Worker) Told() (subjects []string, woken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.told {
		subjects = append(subjects, j.Subject)
	}
	return subjects, len(w.wake) > 0
}

// MostTold is the number of jobs of which the ledger can tell a worker before the worker reads the list.
const MostTold = mostTurns

// Look runs the SQL with which a worker looks at the list.
func Look(ctx context.Context, q db.Querier, queue string, now time.Time) error {
	_, err := queues(ctx, q, false, now, false)
	if err == nil {
		_, err = due(ctx, q, queue, now, ahead)
	}
	return err
}

// LookInTurn runs the SQL with which a worker looks at a queue with many due jobs.
func LookInTurn(ctx context.Context, q db.Querier, company, queue string, now time.Time) error {
	_, _, err := turns(ctx, q, false, queue, "", now, mostTurns)
	if err == nil {
		_, err = dueOf(ctx, q, company, queue, now, ahead)
	}
	return err
}

// LeaseTwice leases the due jobs of a queue for two workers that have both looked at the list before
// either leased a job. It returns the jobs that each of them got.
func LeaseTwice(ctx context.Context, d *db.DB, queue string, now time.Time) (first, second []Job, err error) {
	seen, err := due(ctx, d, queue, now, ahead)
	if err != nil {
		return nil, nil, err
	}
	if first, _, err = store(ctx, d, nil, seen, now, now.Add(lease)); err != nil {
		return nil, nil, err
	}
	second, _, err = store(ctx, d, nil, seen, now, now.Add(lease))
	return first, second, err
}

// EndTooLate leases the due jobs of a queue, leases them again when these leases have ended, and then stores that
// the first runs are done.
func EndTooLate(ctx context.Context, d *db.DB, queue string, now time.Time) error {
	seen, err := due(ctx, d, queue, now, ahead)
	if err != nil {
		return err
	}
	first, _, err := store(ctx, d, nil, seen, now, now.Add(lease))
	if err != nil {
		return err
	}
	var done []end
	for _, j := range first {
		done = append(done, end{Job: j})
	}
	if _, _, err = store(ctx, d, nil, first, now.Add(lease), now.Add(2*lease)); err != nil {
		return err
	}
	_, _, err = store(ctx, d, done, nil, now.Add(lease), now.Add(2*lease))
	return err
}

// LookInParts returns the queues with due jobs and the companies with jobs in a queue, in order, as a routed database
// finds them, each company with its first job's subject.
func LookInParts(ctx context.Context, q db.Querier, queue string, now time.Time) (names, companies []string, more bool, err error) {
	names, err = queues(ctx, q, true, now, false)
	if err != nil {
		return nil, nil, false, err
	}
	list, more, err := turns(ctx, q, true, queue, "", now, mostTurns)
	for _, t := range list {
		companies = append(companies, t.Company+" "+t.Subject)
	}
	return names, companies, more, err
}

// MostAhead is the number of jobs that Recover reads at once.
const MostAhead = mostAhead

// InPart and MostParts bound the jobs that a routed database reads.
const (
	InPart    = inPart
	MostParts = mostParts
)
