package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// within returns a context with a small budget for waits.
func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	return db.Within(context.Background(), limit)
}

// All waits of a request share its budget. After the budget is used up, nothing more is sent to the
// database.
func TestWaitsShareABudget(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
	ctx := within(t, 400*time.Millisecond)
	if got := things(t, d, "c1"); got != "[]" {
		t.Fatal(got)
	}
	asked := func(name string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Unavailable) || errors.Is(err, db.ErrUncommitted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := db.One(ctx, d, db.Value[string], `SELECT pg_sleep(60)::text`)
	asked("a question that is not answered", err)
	_, err = db.One(ctx, d, db.Value[int64], `SELECT 1`)
	asked("the next question", err)
	for name, write := range ways {
		if name != "pipeline" { // a pipeline ignores the budget, because the ledger limits its time
			asked("a "+name, write(ctx, d, row("c1", name, 1)...))
		}
	}
	asked("rows", d.Insert(ctx, db.Record{Table: thing, Values: row("c1", "insert", 1)}))
	own, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err = d.Exec(own, insert, row("c1", "own", 1)...)
	asked("a deadline of its own", err)
	if got := things(t, d, "c1"); got != "[]" {
		t.Errorf("written: %s", got)
	}
	if _, err := db.One(db.WithLongTimeout(ctx), d, db.Value[int64], `SELECT 1`); err != nil {
		t.Errorf("one who is patient: %v", err)
	}
}

// Only waits for the database use the budget. A fast response of the database does not use it.
func TestABudgetCountsWaitsAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := within(t, 2*time.Second)
		wait := db.Await(ctx)
		select {
		case <-wait.Over:
		case <-time.After(300 * time.Millisecond): // stands for a commit by another goroutine
		}
		wait.End()
		<-time.After(2 * time.Second) // stands for a call to a provider
		if _, err := db.One(ctx, d, db.Value[int64], `SELECT 1`); err != nil {
			t.Error(err)
		}
		if db.Await(context.Background()).Over != nil {
			t.Error("a context without a budget ends")
		}
	})
}

// A transaction whose budget is used up is rolled back, and the caller does not wait for its
// connection.
func TestATransactionEndsWithItsBudget(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
	ctx := within(t, 400*time.Millisecond)
	err := d.Tx(ctx, func(q db.Querier) error {
		if _, err := q.Exec(ctx, insert, row("c1", "a", 1)...); err != nil {
			return err
		}
		wait := db.Await(ctx)
		<-wait.Over
		wait.End()
		return nil
	})
	if !fault.Is(err, fault.Unavailable) || errors.Is(err, db.ErrUncommitted) {
		t.Errorf("its COMMIT: %v", err)
	}
	if got := things(t, d, "c1"); got != "[]" {
		t.Errorf("written: %s", got)
	}
}
