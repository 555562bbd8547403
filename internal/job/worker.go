package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const (
	// look is the time between two reads of the list if nothing wakes the worker.
	look = 250 * time.Millisecond
	// lease is how long a worker holds a job. The work must end well before, or call Renew.
	lease = 2 * time.Minute
)

// Config is what a worker does.
type Config struct {
	Kinds    map[string]Work
	Reserved []string // the kinds with reserved workers (Limits.Reserved)
	// Sharing are the providers of the reserved kinds. If there are several, a worker stays
	// free for each one, so that a slow provider cannot hold all reserved workers.
	Sharing []string
	Limits  Limits // Usual, if it is zero
}

// Worker does the jobs of all companies. Workers of other processes on the same database
// share the list.
type Worker struct {
	Config
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger

	wake chan struct{}
	busy sync.WaitGroup

	mu      sync.Mutex
	running map[string]int // the running jobs by queue
	lastOK  time.Time      // the last successful read of the list
}

// NewWorker returns a worker that does nothing before Run.
func NewWorker(d *db.DB, c clock.Clock, log *slog.Logger, cfg Config) *Worker {
	cfg.Limits = cmp.Or(cfg.Limits, Usual)
	if len(cfg.Sharing) == 1 {
		cfg.Sharing = nil
	}
	return &Worker{Config: cfg, db: d, clock: c, log: log, wake: make(chan struct{}, 1), running: map[string]int{}}
}

// Wake has the worker read the list at once.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Healthy reports whether the worker has read the list within ten seconds.
func (w *Worker) Healthy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastOK) < 10*time.Second
}

// Settled returns when no job is due or running, or when ctx ends. It is for callers that
// have moved the clock and wait for the consequences.
func (w *Worker) Settled(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		w.Wake()
		open, err := outstanding(ctx, w.db, slices.Collect(maps.Keys(w.Kinds)), w.clock.Now())
		if err != nil || open == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// ErrLost says that another worker may have the job by now.
var ErrLost = errors.New("job: the lease was lost")

// Renew extends the lease of a job, for long work. The work calls it in each step, and stops
// after ErrLost.
func (w *Worker) Renew(ctx context.Context, j Job) error {
	held, err := renew(ctx, w.db, j, w.clock.Now().Add(lease))
	if err == nil && !held {
		err = ErrLost
	}
	return err
}

// Run works until ctx ends, and then waits for running jobs.
func (w *Worker) Run(ctx context.Context) {
	defer w.busy.Wait()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		n, err := w.round(ctx)
		if err != nil && ctx.Err() == nil {
			w.log.Warn("the to-do list cannot be read", "error", err)
		}
		if n > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.wake:
		}
	}
}

// round begins the due jobs within the capacity and returns their number. It does not wait
// for their end.
func (w *Worker) round(ctx context.Context) (int, error) {
	jobs, err := w.leaseDue(ctx)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	w.lastOK = time.Now()
	w.mu.Unlock()
	w.begin(jobs)
	for _, j := range jobs {
		w.busy.Go(func() {
			defer w.end(j)
			w.do(ctx, j)
		})
	}
	return len(jobs), nil
}

// leaseDue leases the due jobs within the capacity, by company and kind. A job that must
// wait gets no lease, since another program may have capacity. If the database fails, the
// jobs that have a lease run, and the others stay on the list.
func (w *Worker) leaseDue(ctx context.Context) ([]Job, error) {
	now := w.clock.Now()
	list, err := w.next(ctx, now)
	if err != nil {
		return nil, err
	}
	type group struct{ company, kind string }
	subjects, order := map[group][]string{}, []group{}
	for _, j := range list {
		g := group{j.Company, j.Kind}
		if subjects[g] == nil {
			order = append(order, g)
		}
		subjects[g] = append(subjects[g], j.Subject)
	}
	var taken []Job
	for _, g := range order {
		var got []Job
		err := w.db.Tx(ctx, func(q db.Querier) (err error) {
			got, err = take(ctx, q, g.company, g.kind, subjects[g], now, now.Add(lease))
			return err
		})
		if err != nil && len(taken) == 0 {
			return nil, err
		}
		if err != nil {
			break
		}
		taken = append(taken, got...)
	}
	return taken, nil
}

// do runs one job. It stores the result also while the program stops.
func (w *Worker) do(ctx context.Context, j Job) {
	log := w.log.With("kind", j.Kind, "company", j.Company, "subject", j.Subject)
	next, err := w.guarded(ctx, j, log)
	after := context.WithoutCancel(ctx)
	switch {
	case err != nil:
		err = again(after, w.db, j, w.clock.Now().Add(pause(j.Attempts)), err.Error())
	case next.IsZero():
		err = finish(after, w.db, j)
	default:
		err = again(after, w.db, j, next, "")
	}
	if err != nil {
		// The lease ends, and the job runs again.
		log.Warn("a job's end was not stored", "error", err)
	}
}

// guarded does the work and logs its error. A panic becomes an error, so that one bad job
// does not end the worker.
func (w *Worker) guarded(ctx context.Context, j Job, log *slog.Logger) (next time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			log.Error("a job panicked", "panic", p, "stack", string(debug.Stack()))
		} else if err != nil {
			log.Warn("a job failed", "error", err)
		}
	}()
	return w.Kinds[j.Kind](ctx, j)
}

// pause grows with each failed attempt: 1 s, 2 s, 4 s … up to 5 minutes.
func pause(attempts int64) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 10), 5*time.Minute)
}
