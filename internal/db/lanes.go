package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kobo-waas/kobo/internal/fault"
)

// lane is a type of work that has separate connections, so that other work cannot block it.
type lane int8

const (
	working lane = iota // the ledger, the jobs and all transactions that write
	reading             // the reads of requests that only read
	heavy               // reads whose time grows with the number of a company's rows
	probing             // the check whether the database responds
)

type laneKey struct{}

// Reading returns a context for a request that only reads. Its queries outside a transaction use
// the connections for reads, and not those of the ledger and the jobs.
//
// Such a query sees every row that was committed before it began. All connections lead to the same
// server, and a replica that answers a snapshot has every such row (replica). It must not decide a refusal or a stored response of an Idempotency-Key, because a new
// connection for reads does not count as a doubt (DB.Doubts). Deciding is for those.
func Reading(ctx context.Context) context.Context { return inLane(ctx, reading) }

// Deciding returns a context for a read that decides a refusal or a stored response, also within a request that only
// reads. The read uses the connections of the ledger, so a new one counts as a doubt (DB.Doubts).
func Deciding(ctx context.Context) context.Context { return inLane(ctx, working) }

func inLane(ctx context.Context, l lane) context.Context { return context.WithValue(ctx, laneKey{}, l) }

func laneOf(ctx context.Context) lane {
	l, _ := ctx.Value(laneKey{}).(lane)
	return l
}

// Pools divides the connections to PostgreSQL and limits heavy reads. A zero field has its default.
type Pools struct {
	// Reads is the number of connections for the reads of requests. Two more connections belong to
	// the heavy reads and to Ping. The remaining ones of pool_max_conns are for all other work.
	Reads int
	// Heavy is the time limit of each SQL statement of a heavy read of a request.
	Heavy time.Duration
	// Replica is the URL of a standby of the same PostgreSQL database, from which requests read their
	// snapshots and heavy reads. "" for none.
	Replica string
	// Routed sends the statements of batches in the form for a PostgreSQL that divides its tables by
	// company (pipeline_routed.go), also to one that does not. Tests set it.
	Routed bool
	// Undivided refuses a database that divides its tables by company among several servers (nodes).
	Undivided bool
	// Place returns the place that holds the rows of a company (DB.Place), instead of the database. Tests
	// set it.
	Place func(company string) string
	// Twice runs the function of each snapshot twice, as a snapshot may that ends in the middle. The result must not contain
	// anything of the first run. Tests set it.
	Twice bool
}

const (
	// fewest is the smallest number of connections that is divided. With fewer, all work shares them.
	fewest     = 4
	usualHeavy = 5 * time.Second
)

// sizes returns the number of connections of each lane. Their sum is most.
func (p Pools) sizes(most int32) (map[lane]int32, error) {
	if most < fewest {
		if p.Reads > 0 {
			return nil, errors.New("db: with fewer than 4 connections, none can be reserved for reads")
		}
		return map[lane]int32{working: most}, nil
	}
	reads := int32(p.Reads)
	if reads == 0 {
		reads = most / 4
	}
	if reads < 1 || reads > most-3 {
		return nil, errors.New("db: the connections for reads must leave three connections for other work")
	}
	return map[lane]int32{reading: reads, heavy: 1, probing: 1, working: most - reads - 2}, nil
}

// Heavy runs fn in a read-only transaction, which sees the database as it was at one instant. It is
// for reads whose time grows with the number of rows, such as an exact count of a filtered list.
//
// A program runs one heavy read at a time. Companies that wait take turns. Work for operators has
// the company "". An SQL statement of a request that takes longer than the time limit ends with a
// fault of kind Unavailable. fn must not begin another
// heavy read, because it would wait for itself.
func (d *DB) Heavy(ctx context.Context, company string, fn func(q Querier) error) error {
	if err := d.turns.take(ctx, company); err != nil {
		return err
	}
	defer d.turns.end()
	ctx = d.At(ctx, company)
	var limit, patience time.Duration // commands and jobs have no time limit
	if budgetOf(ctx) != nil {
		limit, patience = d.heavyLimit, d.heavyLimit
	}
	if limit > 0 && d.dialect == Postgres {
		patience += time.Second // the server ends the SQL statement itself, and the connection stays usable
	}
	run := func(t *watchedTx) error {
		t.Querier = attentive{t.tx, patience}
		return fn(t)
	}
	done, err := d.fromReplica(ctx, heavy, beginHeavy(limit), run)
	if !done {
		err = again(ctx, func() error {
			return d.inSnapshot(ctx, func(ctx context.Context) (tx, error) { return d.engine.heavy(ctx, limit) }, run)
		})
	}
	var late *pgconn.PgError
	if errors.As(err, &late) && late.Code == "57014" {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	}
	return err
}

// Page returns a page of the rows of a list, and the total count of all its rows. It reads both as one
// heavy read. One SQL query counts the rows and one reads them. Both take args as parameters. The
// query that reads the rows also takes limit and offset as its last parameters.
func Page[T any](ctx context.Context, d *DB, company string, scan func(Scanner) (T, error),
	count, rows string, limit, offset int, args ...any,
) (list []T, total int64, err error) {
	err = d.Heavy(ctx, company, func(q Querier) error {
		if total, err = One(ctx, q, Value[int64], count, args...); err != nil || int64(offset) >= total {
			list = nil
			return err
		}
		list, err = All(ctx, q, scan, rows, append(args[:len(args):len(args)], limit, offset)...)
		return err
	})
	return list, total, err
}

// turns admits one heavy read at a time. The companies that wait take turns, so a company with many
// requests delays each other company by at most one of them.
type turns struct {
	mu      sync.Mutex
	busy    bool
	order   []string // the companies that wait, in the order of their turns
	waiting map[string][]chan struct{}
}

// take waits for a turn. It returns an error if the context or its budget ends first.
func (t *turns) take(ctx context.Context, company string) error {
	mine, at := t.enter(company)
	if at {
		return nil
	}
	wait := Await(ctx)
	defer wait.End()
	var err error
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-wait.Over:
		err = fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errSilent)
	}
	t.leave(company, mine)
	return err
}

// enter begins a turn, or appends a channel that is closed when the turn begins.
func (t *turns) enter(company string) (mine chan struct{}, at bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.busy {
		t.busy = true
		return nil, true
	}
	if t.waiting == nil {
		t.waiting = map[string][]chan struct{}{}
	}
	if len(t.waiting[company]) == 0 {
		t.order = append(t.order, company)
	}
	mine = make(chan struct{})
	t.waiting[company] = append(t.waiting[company], mine)
	return mine, false
}

// leave withdraws a waiting read. If its turn has begun meanwhile, the turn ends.
func (t *turns) leave(company string, mine chan struct{}) {
	t.mu.Lock()
	i := slices.Index(t.waiting[company], mine)
	if i >= 0 {
		t.waiting[company] = slices.Delete(t.waiting[company], i, i+1)
		if len(t.waiting[company]) == 0 {
			delete(t.waiting, company)
			t.order = slices.DeleteFunc(t.order, func(c string) bool { return c == company })
		}
	}
	t.mu.Unlock()
	if i < 0 {
		t.end()
	}
}

// end ends a turn and begins the next one.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.busy = false
		return
	}
	company := t.order[0]
	t.order = t.order[1:]
	close(t.waiting[company][0])
	if t.waiting[company] = t.waiting[company][1:]; len(t.waiting[company]) > 0 {
		t.order = append(t.order, company)
	} else {
		delete(t.waiting, company)
	}
}
