package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// attempts limits how often a transaction with a transient error runs.
const attempts = 6

// Tx runs fn in a transaction and commits it. After a transient error nothing has
// happened, and all of fn runs again. So fn must only use the database.
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
				// After a panic of fn too: an open transaction would keep its
				// connection for ever, and SQLite has only one for writing.
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
// It does not repeat after a lost connection, since the caller should learn at once
// that the database is away.
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

// Snapshot runs fn in a read-only transaction, which sees the database at one
// instant.
func (d *DB) Snapshot(ctx context.Context, fn func(q Querier) error) error {
	return again(ctx, func() error {
		t, err := watchTx(ctx, d.snapshot)
		if err != nil {
			return err
		}
		defer t.w.end()
		defer t.rollback(ctx)
		return fn(t)
	})
}
