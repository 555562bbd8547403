package cluster_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// A server is killed and frozen several times, under its data. It comes back with all that it had replied to, and goes
// even if it is frozen when it is stopped.
func TestAServerComesBackFromEachDeath(t *testing.T) {
	t.Setenv("TMPDIR", tempThatOthersMayEnter(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{Durable: true})
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(commit(ctx, c.URL, "CREATE TABLE kept (n INT)"))
	for n := range 3 {
		must(commit(ctx, c.URL, "INSERT INTO kept VALUES (1)"))
		if n == 1 {
			must(c.Freeze())
		}
		must(c.Kill(ctx))
		if _, err := c.Processes(); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("processes of a dead server: %v", err)
		}
		must(c.Resume())
	}
	must(c.Freeze())
	soon, give := context.WithTimeout(ctx, 300*time.Millisecond)
	if err := commit(soon, c.URL, "INSERT INTO kept VALUES (1)"); err == nil {
		t.Error("a frozen server replied")
	}
	give()
	must(c.Wake())
	conn, err := pgx.Connect(ctx, c.URL)
	must(err)
	var kept int
	must(errors.Join(conn.QueryRow(ctx, "SELECT count(*) FROM kept").Scan(&kept), conn.Close(ctx)))
	if kept != 3 {
		t.Errorf("%d of 3 rows are left", kept)
	}
	must(c.Freeze())
	must(c.Stop())
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("Stop left %v in the temporary folder (%v)", left, err)
	}
}
