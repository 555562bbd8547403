package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

const (
	// pace is the longest time between two looks at the job list.
	pace = 250 * time.Millisecond
	// lease is how long a worker's lease of a job lasts. The work must end well before that time,
	// or call Renew.
	lease = 2 * time.Minute
	// parting is how long a worker that stops tries to store the ends of jobs whose rows another transaction holds.
	parting = 5 * time.Second
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
	runs  *prometheus.CounterVec

	wake chan struct{}
	news atomic.Bool // the worker must look at the list, which may have further due jobs

	lanes map[string]*lane  // the due jobs of the last look, by queue
	turns map[string]string // the company that had the last turn in a queue

	stopped time.Time // when Run began to stop; zero before

	mu      sync.Mutex
	running load
	told    []Job     // due jobs that the ledger has appended since the last round
	ends    []end     // the ends of runs that are not stored yet
	lastOK  time.Time // when the list was last read successfully
}

// NewWorker returns a worker, which does not work until Run is called.
func NewWorker(d *db.DB, c clock.Clock, log *slog.Logger, cfg Config) *Worker {
	cfg.Limits = cmp.Or(cfg.Limits, Usual)
	if len(cfg.Sharing) == 1 {
		cfg.Sharing = nil
	}
	return &Worker{
		Config: cfg, db: d, clock: c, log: log, runs: newRuns(cfg.Kinds), wake: make(chan struct{}, 1), lanes: map[string]*lane{}, turns: map[string]string{},
		running: load{queues: map[string]int{}, companies: map[string]int{}},
	}
}

// Follow tells the worker of each due job that the ledger has appended. The worker leases the job by
// its key and does not read the list for it, so a commit of one company causes no query over all
// companies. Without Follow, the worker finds such a job at its next look.
func (w *Worker) Follow(book *ledger.Book) {
	runAt := table.Index("run_at")
	book.Appended(table.Table, func(rows [][]any) {
		now := clock.Micros(w.clock.Now())
		due := false
		for _, row := range rows {
			if row[runAt].(int64) <= now {
				due = true
				w.tell(row)
			}
		}
		if due {
			w.signal()
		}
	})
}

// tell notes a due job of which the ledger has told. If too many are noted, or the row cannot be
// read, the worker reads the list instead.
func (w *Worker) tell(row []any) {
	j, err := table.Value(db.Record{Table: table.Table, Values: row})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || len(w.told) >= mostTurns {
		w.news.Store(true)
		return
	}
	w.told = append(w.told, j)
}

// Wake makes the worker read the job list immediately.
func (w *Worker) Wake() {
	w.news.Store(true)
	w.signal()
}

func (w *Worker) signal() {
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

// looked notes that the list was read.
func (w *Worker) looked() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastOK = time.Now()
}

// Settled waits until no job is due or running, or until ctx ends. It is for callers that have
// moved the clock and wait for the consequences.
func (w *Worker) Settled(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		w.Wake()
		open, err := queues(ctx, w.db, w.db.Routed(), w.clock.Now(), true)
		if err != nil || !slices.ContainsFunc(open, func(queue string) bool { return w.Kinds[kindOf(queue)] != nil }) {
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

// Run runs due jobs until ctx ends, and then waits for the running jobs. A job whose row another transaction holds for long,
// such as a COMMIT that waits for its standby, keeps its lease, and runs again when the lease is over.
func (w *Worker) Run(ctx context.Context) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	w.news.Store(true)
	for stop := ctx.Done(); stop != nil || !w.idle(); {
		if err := w.round(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("the to-do list cannot be read", "error", err)
		}
		select {
		case <-stop:
			stop, w.stopped = nil, time.Now()
		case <-tick.C:
			w.news.Store(true)
		case <-w.wake:
		}
	}
}

// idle reports whether no job is running and all ends of runs are stored.
func (w *Worker) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running.queues)+len(w.ends) == 0
}

// round stores the ends of runs, and starts as many due jobs as the limits allow. It does not wait
// for these jobs to end. Ends and new leases share a transaction. A job that must wait gets no
// lease, since another program may have capacity.
func (w *Worker) round(ctx context.Context) error {
	now := w.clock.Now()
	w.mu.Lock()
	ends := w.ends
	w.ends = nil
	w.mu.Unlock()
	var due []Job
	var failed error
	if ctx.Err() == nil {
		due, failed = w.next(ctx, now)
	}
	for _, part := range w.placed(ends, due) {
		ends, due := part.ends, part.due
		// The ends are stored even if ctx has ended because the program stops.
		leased, blocked, err := store(w.db.At(context.WithoutCancel(ctx), part.company), w.db, ends, due, now, now.Add(lease))
		if err != nil && len(ends) > 0 {
			// The leases will expire, and then the jobs run again.
			w.log.Warn("the ends of jobs were not stored", "jobs", len(ends), "error", err)
		}
		failed = cmp.Or(failed, err)
		w.begin(ctx, leased)
		if w.stopped.IsZero() || time.Since(w.stopped) < parting {
			w.retry(blocked)
		} else if len(blocked) > 0 {
			w.log.Warn("the ends of jobs were not stored, because their rows are held", "jobs", len(blocked))
		}
		// Other workers have leased some of the jobs first. If they hold all of them, the worker waits for
		// the next tick: a COMMIT that waits for its standby may hold a row for long.
		overtaken := err == nil && len(leased) > 0 && len(leased) < len(due)
		if overtaken || slices.ContainsFunc(ends, func(e end) bool { return !e.next.IsZero() && !e.next.After(now) }) {
			w.Wake()
		}
	}
	return failed
}

// do runs one job.
func (w *Worker) do(ctx context.Context, j Job) {
	log := w.log.With("kind", j.Kind, "company", j.Company, "subject", j.Subject)
	next, err := w.guarded(ctx, j, log)
	w.count(j.Kind, next, err)
	e := end{Job: j, next: next}
	if err != nil {
		e.next, e.trouble = w.clock.Now().Add(pause(j.Attempts)), err.Error()
	}
	w.ended(e)
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
	return w.Kinds[j.Kind](w.db.At(ctx, j.Company), j)
}

// pause returns the pause after a failed attempt. It doubles with each attempt: 1 s, 2 s, 4 s …
// up to 5 minutes.
func pause(attempts int64) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 10), 5*time.Minute)
}
