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
	// look is the time between two reads of the job list if Wake is not called.
	look = 250 * time.Millisecond
	// lease is how long a worker's lease of a job lasts. The work must end well before that time,
	// or call Renew.
	lease = 2 * time.Minute
)

// Config states which kinds of job a worker runs, and with which limits.
type Config struct {
	Kinds    map[string]Work
	Reserved []string // the kinds with reserved workers (Limits.Reserved)
	// Sharing lists the providers of the reserved kinds. If there are several providers, a worker
	// stays free for each provider without a running reserved job. So a slow provider cannot
	// occupy all reserved workers.
	Sharing []string
	Limits  Limits // the zero value means Usual
}

// Worker runs the jobs of all companies. Workers of several processes may share one database and
// its job list.
type Worker struct {
	Config
	db    *db.DB
	clock clock.Clock
	log   *slog.Logger

	wake chan struct{}
	busy sync.WaitGroup

	mu      sync.Mutex
	running map[string]int // the number of running jobs of each queue
	lastOK  time.Time      // when the list was last read successfully
}

// NewWorker returns a worker, which does not work until Run is called.
func NewWorker(d *db.DB, c clock.Clock, log *slog.Logger, cfg Config) *Worker {
	cfg.Limits = cmp.Or(cfg.Limits, Usual)
	if len(cfg.Sharing) == 1 {
		cfg.Sharing = nil
	}
	return &Worker{Config: cfg, db: d, clock: c, log: log, wake: make(chan struct{}, 1), running: map[string]int{}}
}

// Wake makes the worker read the job list immediately.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Healthy reports whether the worker has read the job list in the last ten seconds.
func (w *Worker) Healthy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastOK) < 10*time.Second
}

// Settled waits until no job is due or running, or until ctx ends. It is for callers that have
// moved the clock and wait for the consequences.
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

// ErrLost means that the worker has lost its lease, so another worker may run the job by now.
var ErrLost = errors.New("job: the lease was lost")

// Renew extends the lease of a job. Long work must call Renew in each step, and must stop after
// ErrLost.
func (w *Worker) Renew(ctx context.Context, j Job) error {
	held, err := renew(ctx, w.db, j, w.clock.Now().Add(lease))
	if err == nil && !held {
		err = ErrLost
	}
	return err
}

// Run runs due jobs until ctx ends, and then waits for the running jobs.
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

// round starts as many due jobs as the limits allow, and returns their number. It does not wait
// for these jobs to end.
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

// leaseDue leases as many due jobs as the limits allow, and returns them. It uses one transaction
// for each company and kind. A job that must wait gets no lease, since another program may have
// capacity. If the database fails, leaseDue returns the jobs that it has leased, and the other
// jobs stay on the list.
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

// do runs one job and stores the result. It stores the result even if ctx has ended because the
// program stops.
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
		// The lease will expire, and then the job runs again.
		log.Warn("a job's end was not stored", "error", err)
	}
}

// guarded runs the job's work and logs its error. It turns a panic into an error, so that one bad
// job does not end the worker.
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

// pause returns the pause after a failed attempt. It doubles with each attempt: 1 s, 2 s, 4 s …
// up to 5 minutes.
func pause(attempts int64) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 10), 5*time.Minute)
}
