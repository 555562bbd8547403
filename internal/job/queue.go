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

// left returns how many more jobs of a queue may begin if each limit is higher by more. Parameter
// running contains the number of running jobs of each queue.
func (w *Worker) left(queue string, running map[string]int, more int) int {
	all, others := w.Limits.Workers+more, w.Limits.Workers-w.Limits.Reserved+more
	idle := slices.Clone(w.Sharing) // the providers without a running reserved job
	for other, n := range running {
		all -= n
		if kind, provider, _ := strings.Cut(other, "/"); w.isReserved(kind) {
			idle = slices.DeleteFunc(idle, func(name string) bool { return name == provider })
		} else {
			others -= n
		}
	}
	all -= min(others-more, 0) // a job above the limit takes no reserved worker
	n := all - len(idle)
	switch kind, provider, _ := strings.Cut(queue, "/"); {
	case !w.isReserved(kind):
		n = min(n, others)
	case slices.Contains(idle, provider):
		n++
	}
	return max(min(n, w.Limits.PerProvider+more-running[queue]), 0)
}

// ahead is the number of due jobs of a queue that a worker reads at once. It leases them only when
// it can run them, so other workers may lease them first.
const ahead = 64

// next returns as many due jobs as the limits allow, of the companies in turn.
func (w *Worker) next(ctx context.Context, now time.Time) (list []Job, err error) {
	w.mu.Lock()
	running := load{maps.Clone(w.running.queues), maps.Clone(w.running.companies)}
	told := w.told
	w.told = nil
	w.mu.Unlock()
	if w.news.Swap(false) || w.exhausted(running.queues) {
		// If one of several nodes is away, the whole look fails. The jobs of which the ledger has told go on.
		if err = w.look(ctx, now, running.queues); err != nil && !w.db.Routed() {
			return nil, err
		}
	}
	w.queueUp(told)
	for {
		j, found := w.choose(running)
		if !found {
			return list, err
		}
		running.add(j, 1)
		list = append(list, j)
	}
}

// queueUp puts the jobs of which the ledger has told behind the due jobs that the worker has read.
// The list may already have given a job another row, or no row. The lease decides, because it reads
// the row and locks it. If a queue is long, it gets only one more job of each company, and the worker
// reads the others at its next look.
func (w *Worker) queueUp(told []Job) {
	for _, j := range told {
		if w.Kinds[j.Kind] == nil {
			continue
		}
		l := w.lanes[j.queue()]
		if l == nil {
			l = &lane{}
			w.lanes[j.queue()] = l
		}
		ofCompany, known := false, false
		for _, other := range l.jobs {
			ofCompany = ofCompany || other.Company == j.Company
			known = known || other.name() == j.name()
		}
		switch {
		case known:
		case len(l.jobs) >= ahead && ofCompany, len(l.jobs) >= mostTurns:
			l.cut = true
		default:
			l.jobs = append(l.jobs, j)
		}
	}
}

// part is a part of the ends and due jobs of a round, whose companies have one place. The company is one
// of them.
type part struct {
	company string
	ends    []end
	due     []Job
}

// placed divides ends and due jobs by the places of their companies (db.DB.Place). Usually there is one
// place. A place that is away then does not keep the others from storing.
func (w *Worker) placed(ends []end, due []Job) (parts []*part) {
	at := map[string]*part{}
	of := func(company string) *part {
		place := w.db.Place(company)
		p := at[place]
		if p == nil {
			p = &part{company: company}
			at[place], parts = p, append(parts, p)
		}
		return p
	}
	for _, e := range ends {
		p := of(e.Company)
		p.ends = append(p.ends, e)
	}
	for _, j := range due {
		p := of(j.Company)
		p.due = append(p.due, j)
	}
	return parts
}

// exhausted reports whether the worker could run further jobs of a queue, and has read no more.
func (w *Worker) exhausted(running map[string]int) bool {
	for queue, l := range w.lanes {
		if l.cut && len(l.jobs) == 0 && w.left(queue, running, 0) > 0 {
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
		names, err := queues(ctx, q, w.db.Routed(), now, false)
		for _, queue := range names {
			if err != nil || w.Kinds[kindOf(queue)] == nil {
				continue
			}
			l := &lane{cut: true}
			if w.left(queue, running, 1) > 0 {
				l, err = w.read(ctx, q, queue, now)
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
		w.running.add(j, 1)
		go w.do(ctx, j)
	}
}

// ended stops counting a job as running, and makes the worker store the end.
func (w *Worker) ended(e end) {
	w.mu.Lock()
	w.running.add(e.Job, -1)
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
