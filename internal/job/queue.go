package job

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// Limits are the maximum numbers of jobs that a worker runs concurrently.
type Limits struct {
	Workers     int // the jobs of all kinds
	Reserved    int // how many of Workers are only for reserved kinds
	PerProvider int // the jobs of one kind and one provider
}

// Usual are the default limits.
var Usual = Limits{Workers: 16, Reserved: 4, PerProvider: 4}

// queue returns the name of the job's queue. A queue consists of all jobs of one kind and one
// provider, and Limits.PerProvider applies to it.
func (j Job) queue() string { return j.Kind + "/" + j.Provider }

// kindOf returns the kind of a queue's jobs.
func kindOf(queue string) string {
	kind, _, _ := strings.Cut(queue, "/")
	return kind
}

// isReserved reports whether a kind has reserved workers.
func (w *Worker) isReserved(kind string) bool { return slices.Contains(w.Reserved, kind) }

// left returns how many more jobs of a queue may begin. Parameter running contains the number of
// running jobs of each queue.
func (w *Worker) left(queue string, running map[string]int) int {
	all, others := w.Limits.Workers, w.Limits.Workers-w.Limits.Reserved
	idle := slices.Clone(w.Sharing) // the providers without a running reserved job
	for other, n := range running {
		all -= n
		if kind, provider, _ := strings.Cut(other, "/"); w.isReserved(kind) {
			idle = slices.DeleteFunc(idle, func(name string) bool { return name == provider })
		} else {
			others -= n
		}
	}
	n := all - len(idle)
	switch kind, provider, _ := strings.Cut(queue, "/"); {
	case !w.isReserved(kind):
		n = min(n, others)
	case slices.Contains(idle, provider):
		n++
	}
	return max(min(n, w.Limits.PerProvider-running[queue]), 0)
}

// next returns as many due jobs as the limits allow, the most overdue first. It skips jobs of
// unknown kinds, which only a newer version of the program can run. It also reports whether more
// jobs may be due than the limits allow.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, more bool, err error) {
	w.mu.Lock()
	running := maps.Clone(w.running)
	w.mu.Unlock()
	busy := 0
	for _, n := range running {
		busy += n
	}
	if busy == w.Limits.Workers {
		return nil, true, nil
	}
	err = w.db.Ordered(ctx, func(q db.Querier) error {
		list, more = nil, false
		names, err := queues(ctx, q, now, false)
		for _, queue := range names {
			n := w.left(queue, running)
			if err != nil || w.Kinds[kindOf(queue)] == nil {
				continue
			}
			var some []Job
			if n > 0 {
				some, err = due(ctx, q, queue, now, n)
			}
			more = more || len(some) == n
			list = append(list, some...)
		}
		return err
	})
	slices.SortStableFunc(list, func(a, b Job) int { return a.RunAt.Compare(b.RunAt) })
	return slices.DeleteFunc(list, func(j Job) bool {
		full := w.left(j.queue(), running) == 0
		if !full {
			running[j.queue()]++
		}
		more = more || full
		return full
	}), more, err
}

// begin starts leased jobs, and counts them as running.
func (w *Worker) begin(ctx context.Context, jobs []Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		w.running[j.queue()]++
		go w.do(ctx, j)
	}
}

// ended stops counting a job as running, and makes the worker store the end.
func (w *Worker) ended(e end) {
	w.mu.Lock()
	if w.running[e.queue()]--; w.running[e.queue()] == 0 {
		delete(w.running, e.queue())
	}
	w.ends = append(w.ends, e)
	w.mu.Unlock()
	w.signal()
}

// retry makes the worker store these ends again.
func (w *Worker) retry(blocked []end) {
	if len(blocked) == 0 {
		return
	}
	w.mu.Lock()
	w.ends = append(w.ends, blocked...)
	w.mu.Unlock()
	w.signal()
}
