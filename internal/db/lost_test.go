package db_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// locking reads a thing and locks its row.
func locking(found *bool) db.Lookup {
	return db.Lookup{
		Table: thing, By: thing.KeyNames(), Columns: []string{"n"}, Keys: [][]any{{"c1", "a"}}, Lock: true,
		Found: func([]any) error { *found = true; return nil },
	}
}

// A machine that is lost while its program has locked a row ends no connection. The server ends it after a while, and
// another program goes on. The lost program has written nothing, and reads the end as a lost connection.
func TestALostProgramHoldsNoRow(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	alive := dbtest.Open(t, url)
	exec(t, alive, newThing)
	exec(t, alive, insert, row("c1", "a", 1)...)
	holds := map[string]func(lost *db.DB, silent func()) error{
		"batch": func(lost *db.DB, silent func()) error {
			return lost.Run(t.Context(), func(p db.Pipeline) error {
				var found bool
				if err := p.Read(t.Context(), locking(&found)); err != nil || !found {
					return fmt.Errorf("the row was not locked: %w", err)
				}
				silent()
				return p.Commit(t.Context(), db.Write{Table: thing, Rows: [][]any{row("c1", "lost", 1)}})
			})
		},
		"transaction": func(lost *db.DB, silent func()) error {
			return lost.Tx(t.Context(), func(q db.Querier) error {
				if _, err := q.Exec(t.Context(), `UPDATE db_thing SET n = n + 100 WHERE company_id = 'c1' AND id = 'a'`); err != nil {
					return err
				}
				silent()
				_, err := q.Exec(t.Context(), insert, row("c1", "lost", 1)...)
				return err
			})
		},
	}
	n := 1
	for name, hold := range holds {
		lost := dbtest.Open(t, url)
		db.EndIdle(lost, 300*time.Millisecond)
		err := hold(lost, func() {
			n++
			began := time.Now()
			_, err := alive.Exec(within(t, 10*time.Second), `UPDATE db_thing SET n = n + 1 WHERE company_id = 'c1' AND id = 'a'`)
			if err != nil {
				t.Errorf("beside a %s of a lost program: %v after %s", name, err, time.Since(began))
			}
		})
		want := map[string]fault.Kind{"batch": fault.Unknown, "transaction": fault.Unavailable}[name]
		if !fault.Is(err, want) || errors.Is(err, db.ErrUncommitted) != (want == fault.Unknown) {
			t.Errorf("a %s of the lost program: %v", name, err)
		}
		if got, want := things(t, alive, "c1"), fmt.Sprintf("[a=%d]", n); got != want {
			t.Errorf("after a %s of a lost program: %s, want %s", name, got, want)
		}
	}
}

// A snapshot locks no row, so the server waits without a limit for the program that reads it.
func TestASnapshotMayWait(t *testing.T) {
	url := dbtest.URL(t, db.Postgres)
	d := dbtest.OpenWith(t, url, db.Pools{})
	db.EndIdle(d, 100*time.Millisecond)
	for name, read := range map[string]func(func(q db.Querier) error) error{
		"snapshot":   func(fn func(q db.Querier) error) error { return d.Snapshot(t.Context(), fn) },
		"heavy read": func(fn func(q db.Querier) error) error { return d.Heavy(t.Context(), "c1", fn) },
	} {
		err := read(func(q db.Querier) error {
			// Another transaction of this program waits longer than the limit, and the server ends it.
			ended := d.Tx(t.Context(), func(idle db.Querier) error {
				if _, err := idle.Exec(t.Context(), `SELECT 1`); err != nil {
					return err
				}
				asked := dbtest.Open(t, url)
				until(t, func() bool {
					n, err := db.One(t.Context(), asked, db.Value[int64], `SELECT count(*) FROM pg_stat_activity
						WHERE datname = current_database() AND state = 'idle in transaction' AND NOT query LIKE 'BEGIN ISOLATION%'`)
					return err != nil || n == 0
				})
				_, err := idle.Exec(t.Context(), `SELECT 1`)
				return err
			})
			if !fault.Is(ended, fault.Unavailable) {
				t.Errorf("the idle transaction: %v", ended)
			}
			_, err := db.One(t.Context(), q, db.Value[int64], `SELECT count(*) FROM db_schema`)
			return err
		})
		if err != nil {
			t.Errorf("a %s that waited: %v", name, err)
		}
	}
}

// Each connection to a server lets it notice soon that the machine of the program is lost.
func TestTheServerProbesAProgram(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	for setting, want := range map[string]string{
		"idle_in_transaction_session_timeout": "30s", "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
	} {
		err := d.Tx(t.Context(), func(q db.Querier) error {
			got, err := db.One(t.Context(), q, db.Value[string], `SELECT current_setting($1)`, setting)
			if got != want {
				t.Errorf("%s is %s, want %s", setting, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
