package job

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Limits are how many jobs a worker does at once.
type Limits struct {
	Workers     int // of all kinds together
	Reserved    int // of Workers, for the reserved kinds alone
	PerProvider int // of one kind and one provider
}

// Usual are the default limits.
var Usual = Limits{Workers: 16, Reserved: 4, PerProvider: 4}

// queue names the jobs of one kind and one provider, to which Limits.PerProvider applies.
func (j Job) queue() string { return j.Kind + "/" + j.Provider }

// kindOf is the kind of a queue's jobs.
func kindOf(queue string) string {
	kind, _, _ := strings.Cut(queue, "/")
	return kind
}

// capacity is how many more jobs may begin now.
type capacity struct {
	all, others int // others: of the kinds that are not reserved
	most        int // of one queue
	inHand      map[string]int
	reserved    map[string]bool
	idle        map[string]bool // the providers with a share and without a running reserved job
}

// capacity is the limits less the running jobs.
func (w *Worker) capacity() capacity {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := capacity{
		all: w.limits.Workers, others: w.limits.Workers - w.limits.Reserved, most: w.limits.PerProvider,
		inHand: maps.Clone(w.inHand), reserved: w.reserved, idle: map[string]bool{},
	}
	for _, provider := range w.shares {
		r.idle[provider] = true
	}
	for queue, n := range r.inHand {
		r.all -= n
		if r.reserved[kindOf(queue)] {
			delete(r.idle, strings.TrimPrefix(queue, kindOf(queue)+"/"))
		} else {
			r.others -= n
		}
	}
	return r
}

// left is how many more jobs of a queue may begin.
func (r capacity) left(queue string) int {
	n := r.all - len(r.idle)
	switch kind, provider, _ := strings.Cut(queue, "/"); {
	case !r.reserved[kind]:
		n = min(n, r.others)
	case r.idle[provider]:
		n++
	}
	return max(min(n, r.most-r.inHand[queue]), 0)
}

// admit uses capacity for a job, and is false if there is none.
func (r *capacity) admit(j Job) bool {
	if r.left(j.queue()) == 0 {
		return false
	}
	r.inHand[j.queue()]++
	r.all--
	if r.reserved[j.Kind] {
		delete(r.idle, j.Provider)
	} else {
		r.others--
	}
	return true
}

// next are the due jobs within the capacity, the most overdue first. Jobs of unknown kinds
// are left to a newer program.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, err error) {
	r := w.capacity()
	if r.all == 0 {
		return nil, nil
	}
	names, err := queues(ctx, w.db, now)
	if err != nil {
		return nil, err
	}
	for _, queue := range names {
		n := r.left(queue)
		if w.kinds[kindOf(queue)] == nil || n == 0 {
			continue
		}
		some, err := due(ctx, w.db, queue, now, n)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortStableFunc(list, func(a, b Job) int { return a.RunAt.Compare(b.RunAt) })
	return slices.DeleteFunc(list, func(j Job) bool { return !r.admit(j) }), nil
}

// begin counts jobs as running.
func (w *Worker) begin(jobs []Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range jobs {
		w.inHand[j.queue()]++
	}
}

// end frees a job's capacity and wakes the worker.
func (w *Worker) end(j Job) {
	w.mu.Lock()
	if w.inHand[j.queue()]--; w.inHand[j.queue()] == 0 {
		delete(w.inHand, j.queue())
	}
	w.mu.Unlock()
	w.Wake()
}
