package job

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
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
// unknown kinds, which only a newer version of the program can run.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, err error) {
	w.mu.Lock()
	running := maps.Clone(w.running)
	w.mu.Unlock()
	busy := 0
	for _, n := range running {
		busy += n
	}
	if busy == w.Limits.Workers {
		return nil, nil
	}
	names, err := queues(ctx, w.db, now)
	if err != nil {
		return nil, err
	}
	for _, queue := range names {
		n := w.left(queue, running)
		if w.Kinds[kindOf(queue)] == nil || n == 0 {
			continue
		}
		some, err := due(ctx, w.db, queue, now, n)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortStableFunc(list, func(a, b Job) int { return a.RunAt.Compare(b.RunAt) })
	return slices.DeleteFunc(list, func(j Job) bool {
		full := w.left(j.queue(), running) == 0
		if !full {
			running[j.queue()]++
		}
		return full
	}), nil
}

// begin counts these jobs as running.
func (w *Worker) begin(jobs []Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		w.running[j.queue()]++
	}
}

// end stops counting a job as running, and wakes the worker.
func (w *Worker) end(j Job) {
	w.mu.Lock()
	if w.running[j.queue()]--; w.running[j.queue()] == 0 {
		delete(w.running, j.queue())
	}
	w.mu.Unlock()
	w.Wake()
}
