package dbtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/cluster"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

func TestEachGivesAMigratedDatabaseOfEachDialect(t *testing.T) {
	var seen []db.Dialect
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		have, want, err := d.Migrated(t.Context())
		if err != nil || have != want || want == 0 {
			t.Errorf("schema version %d of %d (%v)", have, want, err)
		}
		seen = append(seen, d.Dialect())
	})
	if t.Failed() || len(seen) == 0 || seen[0] != db.SQLite {
		t.Errorf("ran on %v", seen)
	}
}

func TestDatabasesAreFreshAndApart(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			a, b := dbtest.New(t, dialect), dbtest.New(t, dialect)
			if _, err := a.Exec(t.Context(), "INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ($1, 0, 0)", "c1"); err != nil {
				t.Fatal(err)
			}
			for d, want := range map[*db.DB]int64{a: 1, b: 0} {
				n, err := db.One(t.Context(), d, db.Value[int64], "SELECT count(*) FROM ledger_head")
				if err != nil || n != want {
					t.Errorf("%d rows (%v), want %d", n, err, want)
				}
			}
		})
	}
}

func TestEmptyDatabasesHaveNoSchema(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			d := dbtest.Open(t, dbtest.EmptyURL(t, dialect))
			if err := d.Prepare(t.Context(), "SELECT company_id FROM ledger_head"); err == nil {
				t.Error("the ledger is there already")
			}
			if err := d.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := d.Prepare(t.Context(), "SELECT company_id FROM ledger_head"); err != nil {
				t.Error(err)
			}
		})
	}
}

// The test processes of several packages share one server. Eight processes copy the same template
// concurrently, and the first of them builds it.
func TestManyProcessesShareOneServer(t *testing.T) {
	const child = "KOBO_DBTEST_CHILD"
	if os.Getenv(child) != "" {
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					for range 2 {
						dbtest.New(t, db.Postgres)
					}
				})
			})
		}
		all.Wait()
		return
	}
	c, err := cluster.Start(t.Context(), cluster.Options{})
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManyProcessesShareOneServer$")
			test.Env = append(os.Environ(), child+"=1", "KOBO_TEST_POSTGRES="+c.URL)
			if out, err := test.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
}
