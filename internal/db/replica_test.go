package db_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// A report reads from the replica only if the replica has what was committed before the read began. Whatever
// happens to the replica, the reader notices nothing.
func TestAReplicaShowsWhatWasCommittedBefore(t *testing.T) {
	servers := dbtest.Replicated(t, "reports")
	standby := servers.Standbys[0]
	standbyURL := strings.Replace(standby.URL, "/postgres?", "/reports?", 1)
	do := func(at, statement string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do(servers.Primary.URL, `CREATE ROLE serving LOGIN`)
	do(servers.Primary.URL, `GRANT ALL ON DATABASE reports TO serving`)
	url := strings.Replace(standbyURL, "kobo@", "serving@", 1)
	for { // until the standby has the database
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	d, err := db.OpenWith(t.Context(), strings.NewReplacer("/postgres?", "/reports?", "kobo@", "serving@").Replace(servers.Primary.URL), db.Pools{Replica: url})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	write := func(n int) {
		t.Helper()
		if _, err := d.Exec(t.Context(), `UPDATE note SET n = $1`, n); err != nil {
			t.Fatal(err)
		}
	}
	// read returns the number, and whether a standby has answered.
	read := func(q db.Querier) (n int, fromStandby bool) {
		err := func() (err error) {
			if n, err = db.One(t.Context(), q, db.Value[int], `SELECT n FROM note`); err == nil {
				fromStandby, err = db.One(t.Context(), q, db.Value[bool], `SELECT pg_is_in_recovery()`)
			}
			return err
		}()
		if err != nil {
			t.Fatal(err)
		}
		return n, fromStandby
	}
	sees := func(want int, standby bool) {
		t.Helper()
		for name, run := range map[string]func(fn func(q db.Querier) error) error{
			"heavy":    func(fn func(q db.Querier) error) error { return d.Heavy(t.Context(), "c1", fn) },
			"snapshot": func(fn func(q db.Querier) error) error { return d.Snapshot(db.Reading(t.Context()), fn) },
		} {
			var n int
			var fromStandby bool
			err := run(func(q db.Querier) error { n, fromStandby = read(q); return nil })
			if err != nil || n != want || fromStandby != standby {
				t.Fatalf("%s: %d, from the standby: %v, %v; not %d, %v", name, n, fromStandby, err, want, standby)
			}
		}
	}
	if _, err := d.Exec(t.Context(), `CREATE SCHEMA serving CREATE TABLE note (n BIGINT)`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), `INSERT INTO note VALUES (0)`); err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		write(n)
		sees(n, true)
	}
	err = d.Snapshot(t.Context(), func(q db.Querier) error {
		if _, fromStandby := read(q); fromStandby {
			t.Error("a snapshot that may decide something reads from the standby")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	// A caller that gives up says nothing about the standby.
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := d.Heavy(gone, "c1", func(db.Querier) error { return nil }); err == nil {
		t.Error("a caller that had left got an answer")
	}
	if err := d.Snapshot(db.Reading(gone), func(db.Querier) error { return nil }); err == nil {
		t.Error("a caller that had left got an answer")
	}
	sees(49, true)

	// The standby does not replay for a while.
	do(standbyURL, `SELECT pg_wal_replay_pause()`)
	write(100)
	sees(100, false)
	do(standbyURL, `SELECT pg_wal_replay_resume()`)
	for again := false; !again; { // until the replica has rested
		err := d.Heavy(t.Context(), "c1", func(q db.Querier) error { _, again = read(q); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	sees(100, true)

	// The standby ends a read, because the replay removes a row that the read may still need.
	do(standbyURL, `ALTER SYSTEM SET max_standby_streaming_delay = 0`)
	do(standbyURL, `SELECT pg_reload_conf()`)
	tries := 0
	err = d.Heavy(t.Context(), "c1", func(q db.Querier) error {
		tries++
		if _, fromStandby := read(q); fromStandby != (tries == 1) {
			t.Errorf("try %d: from the standby: %v", tries, fromStandby)
		}
		if tries > 1 {
			return nil
		}
		write(101)
		for began := time.Now(); time.Since(began) < 30*time.Second; {
			// A vacuum leaves the old row while an automatic one looks at the table.
			do(strings.Replace(servers.Primary.URL, "/postgres?", "/reports?", 1), `VACUUM serving.note`)
			if _, err := db.One(t.Context(), q, db.Value[int], `SELECT n FROM note`); err != nil {
				return err
			}
		}
		t.Error("the replay does not end the read")
		return nil
	})
	if err != nil || tries != 2 {
		t.Fatalf("%d tries, %v", tries, err)
	}

	// A mistake of the reader is not repeated on the primary.
	tries = 0
	err = d.Heavy(t.Context(), "c1", func(q db.Querier) error {
		tries++
		_, err := q.Query(t.Context(), `SELECT nothing FROM note`)
		return err
	})
	if err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}

	// A standby that has become a primary has a history of its own.
	if err := standby.Promote(); err != nil {
		t.Fatal(err)
	}
	do(standbyURL, `UPDATE serving.note SET n = -1`)
	sees(101, false)
	write(102)
	sees(102, false)
	if err := standby.Halt(); err != nil {
		t.Fatal(err)
	}
	sees(102, false)
}
