package job

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

const (
	// mostTurns is the number of companies that a worker visits in a look at one queue. A worker looks at
	// least four times a second.
	mostTurns = 1000
	// manyTurns is the number of companies with due jobs above which each has one job in a look, and not
	// its share of the jobs.
	manyTurns = 16
)

// turn is a company that has jobs in a queue.
type turn struct {
	Company string
	Subject string    // of the company's most overdue job without a lease
	RunAt   time.Time // of that job; zero if no job is due
}

// lane is a queue as of the worker's last look.
type lane struct {
	jobs []Job // due jobs: the most overdue first, or the companies in turn
	cut  bool  // the queue may have further due jobs
}

// load counts the running jobs.
type load struct{ queues, companies map[string]int }

func (l load) add(j Job, n int) {
	for key, counts := range map[string]map[string]int{j.queue(): l.queues, j.Company: l.companies} {
		if counts[key] += n; counts[key] == 0 {
			delete(counts, key)
		}
	}
}

// choose takes the next job from the lanes: one of the company with the fewest running jobs. It
// returns false if no job may begin.
func (w *Worker) choose(running load) (chosen Job, found bool) {
	var from *lane
	at, least := 0, 0
	for queue, l := range w.lanes {
		i := w.best(queue, l, running)
		if i < 0 {
			continue
		}
		j := l.jobs[i]
		if n := running.companies[j.Company]; from == nil || n < least || n == least && j.RunAt.Before(chosen.RunAt) {
			from, at, least, chosen = l, i, n, j
		}
	}
	if from == nil {
		return Job{}, false
	}
	from.jobs = slices.Delete(from.jobs, at, at+1)
	if chosen.ID == "" { // one of firsts: it was the company's turn
		w.turns[chosen.queue()] = chosen.Company
	}
	return chosen, true
}

// best returns the index of the job of a lane that may begin next, or -1. A company without a running
// job may begin one more than the limits allow, unless the kind has reserved workers. So the company does
// not wait for long jobs of another company.
func (w *Worker) best(queue string, l *lane, running load) int {
	best, least := -1, 0
	room, guest := w.left(queue, running.queues, 0) > 0, !w.isReserved(kindOf(queue)) && w.left(queue, running.queues, 1) > 0
	if !room && !guest {
		return best
	}
	for i, j := range l.jobs {
		n := running.companies[j.Company]
		if n == 0 {
			return i
		}
		if room && (best < 0 || n < least) {
			best, least = i, n
		}
	}
	return best
}

// read reads due jobs of a queue. If there are many, it takes the companies in turn, so no company waits
// until the jobs of another one are done.
func (w *Worker) read(ctx context.Context, q db.Querier, queue string, now time.Time) (*lane, error) {
	jobs, err := due(ctx, q, queue, now, ahead)
	if err != nil || len(jobs) < ahead {
		return &lane{jobs: jobs}, err
	}
	list, more, err := w.visit(ctx, q, queue, now)
	if err != nil {
		return nil, err
	}
	first := firsts(queue, list)
	if len(first) > manyTurns {
		return &lane{jobs: first, cut: true}, nil
	}
	if more && len(list) > 0 {
		w.turns[queue] = list[len(list)-1].Company
	}
	if len(first) > 0 {
		jobs, err = share(ctx, q, queue, first, now)
	}
	return &lane{jobs: jobs, cut: true}, err
}

// visit returns the companies with jobs in a queue, beginning after the one that had the last turn. With more,
// further companies may follow.
func (w *Worker) visit(ctx context.Context, q db.Querier, queue string, now time.Time) (list []turn, more bool, err error) {
	after := w.turns[queue]
	list, more, err = turns(ctx, q, w.db.Routed(), queue, after, now, mostTurns)
	if err != nil || after == "" || more {
		return list, more, err
	}
	rest, more, err := turns(ctx, q, w.db.Routed(), queue, "", now, mostTurns-len(list))
	return append(list, rest...), more, err
}

// share reads equally many due jobs of each of a few companies. In the result the companies take turns.
func share(ctx context.Context, q db.Querier, queue string, first []Job, now time.Time) (jobs []Job, err error) {
	each := ahead / len(first)
	lists := make([][]Job, len(first))
	for i, j := range first {
		if lists[i], err = dueOf(ctx, q, j.Company, queue, now, each); err != nil {
			return nil, err
		}
	}
	for round := range each {
		for _, list := range lists {
			if round < len(list) {
				jobs = append(jobs, list[round])
			}
		}
	}
	return jobs, nil
}

// firsts returns the due jobs of these turns, without their IDs.
func firsts(queue string, list []turn) (jobs []Job) {
	kind, provider, _ := strings.Cut(queue, "/")
	seen := map[string]bool{}
	for _, t := range list {
		if !t.RunAt.IsZero() && !seen[t.Company] {
			seen[t.Company] = true
			jobs = append(jobs, Job{Company: t.Company, Kind: kind, Subject: t.Subject, Provider: provider, RunAt: t.RunAt})
		}
	}
	return jobs
}
