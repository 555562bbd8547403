package db_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// each runs f on both engines. Each database has a table of things.
func each(t *testing.T, f func(t *testing.T, d *db.DB)) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
			n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
		f(t, d)
	})
}

func exec(t *testing.T, q db.Querier, statement string, args ...any) int64 {
	t.Helper()
	n, err := q.Exec(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if d, is := q.(*db.DB); is && strings.HasPrefix(statement, "CREATE TABLE") {
		dbtest.Distribute(t, d)
	}
	return n
}

const insert = `INSERT INTO db_thing (company_id, id, name, n) VALUES ($1, $2, $3, $4)`

// things returns the IDs and numbers of the company's things.
func things(t *testing.T, q db.Querier, company string) string {
	t.Helper()
	rows, err := db.All(t.Context(), q, func(s db.Scanner) (string, error) {
		var id string
		var n int64
		err := s.Scan(&id, &n)
		return fmt.Sprint(id, "=", n), err
	}, `SELECT id, n FROM db_thing WHERE company_id = $1 ORDER BY id`, company)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(rows)
}

func TestOneTextRunsOnBothEngines(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for i, id := range []string{"a", "b", "c", "d"} {
			if n := exec(t, d, insert, "c1", id, "name "+id, int64(i)); n != 1 {
				t.Errorf("%d rows inserted", n)
			}
		}
		for name, c := range map[string]struct {
			query string
			args  []any
			want  int64
		}{
			"texts":                {`SELECT count(*) FROM db_thing WHERE company_id = $2 AND id = ANY($1)`, []any{[]string{"a", "c", "z"}, "c1"}, 2},
			"numbers":              {`SELECT count(*) FROM db_thing WHERE company_id = $1 AND n = ANY($2)`, []any{"c1", []int64{1, 2, 3, 9}}, 3},
			"nothing":              {`SELECT count(*) FROM db_thing WHERE company_id = $1 AND id = ANY($2)`, []any{"c1", []string{}}, 0},
			"a number used twice":  {`SELECT count(*) FROM db_thing WHERE company_id = $1 AND (n > $2 OR n = $2)`, []any{"c1", int64(1)}, 3},
			"quotes in a text":     {`SELECT count(*) FROM db_thing WHERE company_id = $1 AND id = ANY($2)`, []any{"c1", []string{`"`, `'`, `\`}}, 0},
			"numbers out of order": {`SELECT count(*) FROM db_thing WHERE name = $2 AND company_id = $1`, []any{"c1", "name b"}, 1},
		} {
			if n, err := db.One(t.Context(), d, db.Value[int64], c.query, c.args...); err != nil || n != c.want {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		if n := exec(t, d, `UPDATE db_thing SET n = n + $1 WHERE company_id = $2`, int64(10), "c1"); n != 4 {
			t.Errorf("%d rows updated", n)
		}
		err := d.Tx(t.Context(), func(q db.Querier) error {
			locked, err := db.One(t.Context(), q, db.Value[int64], `SELECT n FROM db_thing WHERE company_id = $1 AND id = $2 FOR UPDATE`, "c1", "a")
			if err == nil && locked != 10 {
				t.Errorf("locked: %d", locked)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if _, err := db.One(t.Context(), d, db.Value[string], `SELECT id FROM db_thing WHERE company_id = $1`, "nobody"); !errors.Is(err, db.ErrNone) {
			t.Errorf("no row: %v", err)
		}
		if err := d.Prepare(t.Context(), `SELECT nothing FROM db_thing`); err == nil {
			t.Error("a column that does not exist was prepared")
		}
	})
}

func TestErrorsMeanTheSameOnBothEngines(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, insert, "c1", "a", "", int64(1))
		gone, leave := context.WithCancel(t.Context())
		leave()
		for name, c := range map[string]struct {
			ctx  context.Context
			args []any
			want db.Trouble
		}{
			"a key that is there":    {t.Context(), []any{"c1", "a", "", int64(1)}, db.Duplicate},
			"a check that says no":   {t.Context(), []any{"c1", "b", "", int64(-1)}, db.Broken},
			"a value that is absent": {t.Context(), []any{"c1", "b", nil, int64(1)}, db.Broken},
			"a caller who has gone":  {gone, []any{"c1", "b", "", int64(1)}, db.Other},
		} {
			_, err := d.Exec(c.ctx, insert, c.args...)
			if got := db.Classify(err); got != c.want || fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: %d, %v", name, got, err)
			}
		}
		if got := things(t, d, "c1"); got != "[a=1]" {
			t.Errorf("left: %s", got)
		}
	})
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		no := errors.New("no")
		err := d.Tx(t.Context(), func(q db.Querier) error {
			exec(t, q, insert, "c1", "a", "", int64(1))
			return no
		})
		if !errors.Is(err, no) {
			t.Errorf("the error came out as %v", err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = d.Tx(t.Context(), func(q db.Querier) error {
				exec(t, q, insert, "c1", "b", "", int64(1))
				panic("a bug")
			})
		}()
		if got := things(t, d, "c1"); got != "[]" {
			t.Errorf("left: %s", got)
		}
		// Both failed transactions have returned their connection. Otherwise this transaction would
		// wait, because SQLite has only one connection that writes.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = d.Tx(ctx, func(q db.Querier) error {
			_, err := q.Exec(ctx, insert, "c1", "c", "", int64(1))
			return err
		})
		if got := things(t, d, "c1"); err != nil || got != "[c=1]" {
			t.Errorf("afterwards: %s, %v", got, err)
		}
	})
}

// Two transactions lock two rows in opposite orders. PostgreSQL ends one of the transactions, and
// Kobo runs it again from its start. SQLite runs one transaction after the other.
func TestATransactionThatLosesARaceRunsAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, insert, "c1", "a", "", int64(0))
		exec(t, d, insert, "c1", "b", "", int64(0))
		const add = `UPDATE db_thing SET n = n + 1 WHERE company_id = $1 AND id = $2`
		var first, both sync.WaitGroup
		first.Add(2)
		for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
			arrived := sync.OnceFunc(first.Done)
			both.Go(func() {
				err := d.Tx(t.Context(), func(q db.Querier) error {
					if _, err := q.Exec(t.Context(), add, "c1", order[0]); err != nil {
						return err
					}
					arrived()
					if d.Dialect() == db.Postgres {
						first.Wait()
					}
					_, err := q.Exec(t.Context(), add, "c1", order[1])
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if got := things(t, d, "c1"); got != "[a=2 b=2]" {
			t.Errorf("left: %s", got)
		}
	})
}

func TestTriesAreCounted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		lost := &pgconn.PgError{Code: "40001"}
		for _, c := range []struct{ losses, runs int }{{0, 1}, {3, 4}, {5, 6}, {99, 6}} {
			runs := 0
			err := d.Tx(t.Context(), func(db.Querier) error {
				if runs++; runs <= c.losses {
					return lost
				}
				return nil
			})
			if runs != c.runs || (err == nil) != (c.losses < 6) || err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("%d losses: %d runs, %v", c.losses, runs, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		runs := 0
		err := d.Tx(ctx, func(db.Querier) error { runs++; cancel(); return lost })
		if runs != 1 || err == nil {
			t.Errorf("a caller who has gone: %d runs, %v", runs, err)
		}
	})
}

func TestASnapshotSeesOneInstant(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, insert, "c1", "a", "", int64(1))
		runs := 0
		err := d.Snapshot(t.Context(), func(q db.Querier) error {
			if runs++; runs > 1 {
				return nil // the second run of tests
			}
			if got := things(t, q, "c1"); got != "[a=1]" {
				t.Errorf("at first: %s", got)
			}
			exec(t, d, insert, "c1", "b", "", int64(1))
			if got := things(t, q, "c1"); got != "[a=1]" {
				t.Errorf("later: %s", got)
			}
			if _, err := q.Exec(t.Context(), insert, "c1", "c", "", int64(1)); err == nil {
				t.Error("a snapshot was written to")
			}
			return nil
		})
		if got := things(t, d, "c1"); err != nil || got != "[a=1 b=1]" {
			t.Errorf("left: %s, %v", got, err)
		}
	})
}

func TestOpenSaysWhatItCannotOpen(t *testing.T) {
	for _, url := range []string{"", "mysql://x", "kobo.db", "postgres://u:secret@[", "sqlite:/no/such/folder/kobo.db"} {
		d, err := db.Open(t.Context(), url)
		if err == nil {
			d.Close()
			t.Errorf("%q was opened", url)
		} else if url == "postgres://u:secret@[" && fmt.Sprint(err) != "db: the PostgreSQL URL cannot be read" {
			t.Errorf("the password is in the error: %v", err)
		}
	}
	if db.Flag(true) != 1 || db.Flag(false) != 0 {
		t.Error("flags")
	}
}

// A missing migration is detected even if the newest migration was applied.
func TestAGapInTheSchemaIsSeen(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		have, _, err := d.Migrated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := exec(t, d, `DELETE FROM goose_db_version WHERE version_id = 20`); n != 1 {
			t.Fatalf("%d versions forgotten", n)
		}
		want := fmt.Sprintf("schema %d without migration 20,", have)
		if _, _, err := d.Migrated(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("looked at: %v", err)
		}
		if err := d.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("migrated: %v", err)
		}
	})
}

// The SQL function strpos works on both engines.
func TestStrposWorksOnBothEngines(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for y, want := range map[string]int64{"o": 2, "kobo": 1, "x": 0} {
			if got, err := db.One(t.Context(), d, db.Value[int64], `SELECT strpos('kobo', $1)`, y); err != nil || got != want {
				t.Errorf("%q begins at %d, not %d: %v", y, got, want, err)
			}
		}
	})
}
