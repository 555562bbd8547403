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

// ahead is the number of due jobs of a queue that a worker reads at once. It leases them only when
// it can run them, so other workers may lease them first.
const ahead = 64

// lane is a queue as of the worker's last look.
type lane struct {
	jobs []Job // due jobs, the most overdue first
	cut  bool  // the queue may have further due jobs
}

// next returns as many due jobs as the limits allow, the most overdue first.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, err error) {
	w.mu.Lock()
	running := maps.Clone(w.running)
	w.mu.Unlock()
	if w.news.Swap(false) || w.exhausted(running) {
		if err := w.look(ctx, now, running); err != nil {
			return nil, err
		}
	}
	for queue, l := range w.lanes {
		list = append(list, l.jobs[:min(w.left(queue, running), len(l.jobs))]...)
	}
	slices.SortStableFunc(list, func(a, b Job) int { return a.RunAt.Compare(b.RunAt) })
	return slices.DeleteFunc(list, func(j Job) bool {
		full := w.left(j.queue(), running) == 0
		if !full {
			running[j.queue()]++
			l := w.lanes[j.queue()]
			l.jobs = l.jobs[1:]
		}
		return full
	}), nil
}

// exhausted reports whether the worker could run further jobs of a queue, and has read no more.
func (w *Worker) exhausted(running map[string]int) bool {
	for queue, l := range w.lanes {
		if l.cut && len(l.jobs) == 0 && w.left(queue, running) > 0 {
			return true
		}
	}
	return false
}

// look reads the due jobs of the queues that are not full. It skips jobs of unknown kinds, which
// only a newer version of the program can run.
func (w *Worker) look(ctx context.Context, now time.Time, running map[string]int) error {
	lanes := map[string]*lane{}
	err := w.db.Ordered(ctx, func(q db.Querier) error {
		names, err := queues(ctx, q, now, false)
		for _, queue := range names {
			if err != nil || w.Kinds[kindOf(queue)] == nil {
				continue
			}
			l := &lane{cut: true}
			if w.left(queue, running) > 0 {
				l.jobs, err = due(ctx, q, queue, now, ahead)
				l.cut = len(l.jobs) == ahead
			}
			lanes[queue] = l
		}
		return err
	})
	if err != nil {
		return err
	}
	w.lanes = lanes
	w.looked()
	return nil
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

// retry makes the worker store these ends again at its next tick. Another transaction holds their rows.
func (w *Worker) retry(blocked []end) {
	if len(blocked) == 0 {
		return
	}
	w.mu.Lock()
	w.ends = append(w.ends, blocked...)
	w.mu.Unlock()
}
