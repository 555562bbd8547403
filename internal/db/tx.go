package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// attempts is the largest number of times that a transaction with transient errors runs.
const attempts = 6

// Tx runs fn in a transaction and commits it. After a transient error nothing was committed, and Tx
// runs fn again from its start. So fn must not do anything outside the database.
func (d *DB) Tx(ctx context.Context, fn func(q Querier) error) error {
	return again(ctx, func() error {
		t, err := watchTx(ctx, d.begin)
		if err != nil {
			return err
		}
		defer t.w.end()
		kept := false
		defer func() {
			if !kept {
				// This also rolls back after a panic of fn. Otherwise the open transaction would
				// never return its connection, and SQLite has only one connection that writes.
				t.rollback(ctx)
			}
		}()
		if err := fn(t); err != nil {
			return err
		}
		kept = true
		return t.commit(ctx)
	})
}

// again calls do, and repeats the call while the error is Transient, with a growing, random pause.
// It does not repeat the call after a lost connection, because the caller should learn immediately
// that the database is unavailable.
func again(ctx context.Context, do func() error) error {
	pause := 2 * time.Millisecond
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == attempts || Classify(err) != Transient {
			return explain(err)
		}
		select {
		case <-ctx.Done():
			return explain(errors.Join(err, ctx.Err()))
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// Ordered does the same as Snapshot. The planner of PostgreSQL then uses an index wherever an index
// fits, in the order of the index. So a plan that was made for a small table, or with old
// statistics, does not read and sort a whole large table.
func (d *DB) Ordered(ctx context.Context, fn func(q Querier) error) error {
	return d.Snapshot(ctx, func(q Querier) error {
		if d.dialect == Postgres {
			for _, set := range d.planning() {
				if _, err := q.Exec(ctx, set); err != nil {
					return err
				}
			}
		}
		return fn(q)
	})
}

// planning returns the SQL statements that set how a transaction plans. Citus refuses generic plans.
func (d *DB) planning() []string {
	switch {
	case d.IsDivided():
		return orderEverywhere
	case d.Routed():
		return []string{keepKeys + keepOrder}
	}
	return []string{keepPlans + keepOrder}
}

// orderEverywhere does the same as keepKeys and keepOrder, also for the nodes of Citus that a transaction asks. It
// passes on only statements of this form.
var orderEverywhere = []string{
	"SET LOCAL citus.propagate_set_commands TO 'local'",
	"SET LOCAL enable_seqscan TO off", "SET LOCAL enable_hashjoin TO off", "SET LOCAL enable_mergejoin TO off",
	"SET LOCAL enable_bitmapscan TO off", "SET LOCAL enable_sort TO off", "SET LOCAL jit TO off",
}

// Snapshot runs fn in a read-only transaction, which sees the database as it was at one instant. It may run
// fn several times. The context of a request that only reads (Reading) lets a replica answer.
func (d *DB) Snapshot(ctx context.Context, fn func(q Querier) error) error {
	if d.twice {
		fn = twice(fn)
	}
	if laneOf(ctx) == reading {
		if done, err := d.fromReplica(ctx, reading, planFreely, func(t *watchedTx) error { return fn(t) }); done {
			return err
		}
	}
	return again(ctx, func() error {
		return d.inSnapshot(ctx, d.snapshot, func(t *watchedTx) error { return fn(t) })
	})
}

// twice returns a function that runs fn twice, if the first run has no error.
func twice(fn func(q Querier) error) func(q Querier) error {
	return func(q Querier) error {
		if err := fn(q); err != nil {
			return err
		}
		return fn(q)
	}
}

func (d *DB) inSnapshot(ctx context.Context, begin func(context.Context) (tx, error), fn func(t *watchedTx) error) error {
	t, err := watchTx(ctx, begin)
	if err != nil {
		return err
	}
	defer t.w.end()
	defer t.rollback(ctx)
	return fn(t)
}
