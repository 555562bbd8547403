package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// attempts is how often a transaction that lost a race is run in all.
const attempts = 6

// Tx runs fn in a transaction and commits it. When the engine says that nothing
// happened and a second try may help, the whole of fn runs again, so fn must
// not do anything but talk to the database.
func (d *DB) Tx(ctx context.Context, fn func(q Querier) error) error {
	return again(ctx, func() error {
		t, err := watchTx(ctx, d.begin)
		if err != nil {
			return err
		}
		defer t.end()
		kept := false
		defer func() {
			if !kept {
				// Also when fn panics: a transaction that nobody ends would hold its
				// connection for good, and SQLite has only one that writes.
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

// again repeats do while its error is Transient, with a growing, jittered pause.
// Losing the connection is not repeated here: a caller who waits for a database
// that is away should hear so at once.
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

// Snapshot runs fn in a transaction that only reads and sees the database as it
// was at one instant.
func (d *DB) Snapshot(ctx context.Context, fn func(q Querier) error) error {
	return again(ctx, func() error {
		t, err := watchTx(ctx, d.snapshot)
		if err != nil {
			return err
		}
		defer t.end()
		defer t.rollback(ctx)
		return fn(t)
	})
}
