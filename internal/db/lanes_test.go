package db_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// endless is an SQL statement that takes far longer than any time limit of a test.
const endless = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000000) SELECT max(i) FROM n`

// openWith opens the database of d again with other pools.
func openWith(t *testing.T, url string, pools db.Pools) *db.DB {
	t.Helper()
	d, err := db.OpenWith(t.Context(), url, pools)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// engines runs a test on both engines, with a function that opens a new database.
func engines(t *testing.T, test func(t *testing.T, open func(parameters string, pools db.Pools) *db.DB)) {
	for _, engine := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(engine), func(t *testing.T) {
			test(t, func(parameters string, pools db.Pools) *db.DB {
				url := dbtest.URL(t, engine)
				if engine == db.Postgres && parameters != "" {
					url += map[bool]string{true: "&", false: "?"}[strings.Contains(url, "?")] + parameters
				}
				return openWith(t, url, pools)
			})
		})
	}
}

// busy runs n SQL statements in parallel that do not end before the returned function is called.
func busy(t *testing.T, n int, run func(ctx context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all, begun sync.WaitGroup
	for range n {
		begun.Add(1)
		all.Go(func() {
			begun.Done()
			run(ctx)
		})
	}
	begun.Wait()
	return func() {
		cancel()
		all.Wait()
	}
}

// A heavy read of a request ends after the time limit with a fault of kind Unavailable. Without a
// budget, as in a command, there is no time limit.
func TestAHeavyReadHasATimeLimit(t *testing.T) {
	engines(t, func(t *testing.T, open func(string, db.Pools) *db.DB) {
		d := open("", db.Pools{Heavy: 300 * time.Millisecond})
		read := func(ctx context.Context, query string) error {
			return d.Heavy(ctx, "c1", func(q db.Querier) error {
				_, err := db.One(ctx, q, db.Value[int64], query)
				return err
			})
		}
		for range 3 {
			if err := read(within(t, time.Minute), endless); !fault.Is(err, fault.Unavailable) {
				t.Errorf("%v", err)
			}
		}
		if err := read(within(t, time.Minute), `SELECT 1`); err != nil {
			t.Errorf("the next read: %v", err)
		}
		without, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := read(without, endless); err == nil || fault.Is(err, fault.Unavailable) || without.Err() == nil {
			t.Errorf("a read without a budget: %v", err)
		}
	})
}

// While heavy reads and reads use all their connections, other work and the check of the database
// do not wait.
func TestReadsDoNotDelayOtherWork(t *testing.T) {
	engines(t, func(t *testing.T, open func(string, db.Pools) *db.DB) {
		d := open("pool_max_conns=4", db.Pools{})
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		exec(t, d, newThing)
		heavy := busy(t, 3, func(ctx context.Context) {
			_ = d.Heavy(ctx, "c1", func(q db.Querier) error {
				_, err := db.One(ctx, q, db.Value[int64], endless)
				return err
			})
		})
		defer heavy()
		if d.Dialect() == db.Postgres { // SQLite has four readers in any case
			reads := busy(t, 8, func(ctx context.Context) { _, _ = db.One(db.Reading(ctx), d, db.Value[int64], endless) })
			defer reads()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for i := range 20 {
			exec(t, d, insert, row("c1", fmt.Sprint(i), 1)...)
			if err := d.Ping(ctx); err != nil {
				t.Fatalf("the check of the database: %v", err)
			}
			if err := d.Fits(ctx); err != nil {
				t.Fatalf("the check of the schema: %v", err)
			}
		}
	})
}

// While other work uses all its connections, the check of the database does not wait.
func TestThePingHasItsOwnConnection(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	d := openWith(t, url, db.Pools{Reads: 2})
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop := busy(t, 20, func(ctx context.Context) {
		_ = d.Tx(ctx, func(q db.Querier) error {
			_, err := db.One(ctx, q, db.Value[int64], endless)
			return err
		})
	})
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := d.Ping(ctx); err != nil {
		t.Error(err)
	}
	if err := d.Fits(ctx); err != nil {
		t.Error(err)
	}
}

// Companies that wait for a heavy read take turns, so a company with many requests delays another
// company by one of them.
func TestCompaniesTakeTurns(t *testing.T) {
	engines(t, func(t *testing.T, open func(string, db.Pools) *db.DB) {
		d := open("", db.Pools{})
		var order []string
		first, entered := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		read := func(company string, fn func()) {
			all.Go(func() {
				if err := d.Heavy(t.Context(), company, func(db.Querier) error { fn(); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		read("flood", func() { close(entered); <-first })
		<-entered
		for i, company := range []string{"flood", "flood", "flood", "polite", "other"} {
			read(company, func() { order = append(order, company) }) // one at a time, so without a lock
			until(t, func() bool { return db.Waiting(d) == i+1 })
		}
		given, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			if err := d.Heavy(given, "gone", func(db.Querier) error { return nil }); err == nil {
				t.Error("a read whose caller is gone was made")
			}
		})
		until(t, func() bool { return db.Waiting(d) == 6 })
		cancel()
		until(t, func() bool { return db.Waiting(d) == 5 })
		close(first)
		all.Wait()
		if got := strings.Join(order, " "); got != "flood polite other flood flood" {
			t.Error(got)
		}
	})
}

// A heavy read that waits for its turn uses the budget of its request.
func TestWaitingForATurnUsesTheBudget(t *testing.T) {
	engines(t, func(t *testing.T, open func(string, db.Pools) *db.DB) {
		d := open("", db.Pools{})
		err := d.Heavy(t.Context(), "c1", func(db.Querier) error {
			return d.Heavy(within(t, 300*time.Millisecond), "c2", func(db.Querier) error { return nil })
		})
		if !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		if err := d.Heavy(within(t, time.Minute), "c2", func(db.Querier) error { return nil }); err != nil {
			t.Error(err)
		}
	})
}

// New connections for reads and for the check of the database cause no doubt, because nothing that
// needs a proof rests on their rows.
func TestOtherPoolsCauseNoDoubt(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	exec(t, d, newThing)
	before := d.Doubts()
	if err := d.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.One(db.Reading(t.Context()), d, db.Value[int64], `SELECT 1`); err != nil {
		t.Fatal(err)
	}
	err := d.Heavy(t.Context(), "c1", func(q db.Querier) error {
		_, err := db.One(t.Context(), q, db.Value[int64], `SELECT 1`)
		return err
	})
	if err != nil || d.Doubts() != before {
		t.Errorf("%v, %d doubts", err, d.Doubts()-before)
	}
}

// The connections for reads must leave connections for other work.
func TestImpossiblePoolsAreRefused(t *testing.T) {
	for parameter, reads := range map[string]int{"3": 1, "4": 2, "12": 10} {
		if _, err := db.OpenWith(t.Context(), "postgres://h/d?pool_max_conns="+parameter, db.Pools{Reads: reads}); err == nil {
			t.Errorf("%d of %s connections for reads are accepted", reads, parameter)
		}
	}
}
