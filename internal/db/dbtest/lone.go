package dbtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// Lone is a separate PostgreSQL server with the current schema. A test can make each COMMIT on it
// wait for a standby that does not exist.
type Lone struct {
	URL string

	t        testing.TB
	operator *pgx.Conn
}

// NewLone starts a separate server and stops it when the test ends. At first its COMMITs do not
// wait.
func NewLone(t testing.TB) *Lone {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Options{Durable: true})
	if err != nil {
		unavailable(t, err)
	}
	l := &Lone{URL: c.URL, t: t}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := migrate(t.Context(), c.URL); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	if l.operator, err = pgx.Connect(t.Context(), c.URL+"&application_name=operator"); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = l.operator.Close(context.Background()) }) // ignored, because the server ends too
	l.Do("CREATE TABLE lone_probe (n BIGINT)")
	return l
}

// Do runs an SQL statement as the operator of the server.
func (l *Lone) Do(statement string) {
	l.t.Helper()
	if err := run(context.Background(), l.operator, statement); err != nil {
		l.t.Fatalf("dbtest: %v", err)
	}
}

// Count runs an SQL query as the operator of the server, and returns the number that the query
// reads.
func (l *Lone) Count(query string) (n int64) {
	l.t.Helper()
	if err := l.operator.QueryRow(context.Background(), query).Scan(&n); err != nil {
		l.t.Fatalf("dbtest: %s: %v", query, err)
	}
	return n
}

// Waiting returns the number of COMMITs that wait for the standby.
func (l *Lone) Waiting() int64 {
	return l.Count("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name <> 'probe'")
}

// AwaitWaiting returns as soon as a COMMIT waits for the standby.
func (l *Lone) AwaitWaiting() {
	l.t.Helper()
	l.until(func() bool { return l.Waiting() > 0 })
}

// Cancel waits until a COMMIT waits for the standby, and then ends that wait, as an operator can. It returns when the
// transaction has ended, so its rows are to be seen.
func (l *Lone) Cancel() {
	l.t.Helper()
	l.AwaitWaiting()
	now := l.Count("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
	l.Do("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	earlier := fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND application_name <> 'probe' AND query_start < to_timestamp(%d / 1000000.0)", now)
	l.until(func() bool { return l.Count(earlier) == 0 })
}

// EndWaits ends every COMMIT that waits for the standby, like a restart of the server. The callers
// get no reply, but the rows stay committed.
func (l *Lone) EndWaits() {
	l.t.Helper()
	l.until(func() bool {
		l.Do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		return l.Waiting() == 0
	})
}

// Desert makes every COMMIT wait from now on, as if the standby had been lost.
func (l *Lone) Desert() { l.replicate("'ANY 1 (nobody)'", true) }

// Rejoin ends all waits, as if the standby had returned. It returns when the waiting transactions
// have ended.
func (l *Lone) Rejoin() {
	l.t.Helper()
	l.replicate("''", false)
	l.until(func() bool {
		return l.Count("SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL") == 0
	})
}

// replicate changes the setting for the standby, and returns when the setting is in force.
func (l *Lone) replicate(names string, waits bool) {
	l.t.Helper()
	l.Do("ALTER SYSTEM SET synchronous_standby_names = " + names)
	l.Do("SELECT pg_reload_conf()")
	l.until(func() bool { return l.hangs() == waits })
}

func (l *Lone) until(is func() bool) {
	l.t.Helper()
	for range 10_000 {
		if is() {
			return
		}
	}
	l.t.Fatal("dbtest: the server does not do as it is told")
}

// hangs reports whether a COMMIT now waits for the standby.
func (l *Lone) hangs() bool {
	l.t.Helper()
	c, err := pgx.Connect(context.Background(), l.URL+"&application_name=probe")
	if err != nil {
		l.t.Fatalf("dbtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = c.Exec(ctx, fmt.Sprintf("INSERT INTO lone_probe VALUES (%d)", time.Now().UnixNano()))
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		l.t.Fatalf("dbtest: %v", err)
	}
	_ = c.Close(context.Background()) // the error is ignored, because the connection may be closed already
	<-c.PgConn().CleanupDone()
	return err != nil
}
