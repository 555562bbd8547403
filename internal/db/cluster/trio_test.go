package cluster_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// The primary moves from server to server: it dies, or freezes and wakes as no primary any more. Each time it comes back
// as a standby, and the new primary replies to commits at once.
func TestEachServerOfATrioBecomesThePrimary(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers take some seconds")
	}
	t.Setenv("TMPDIR", tempThatOthersMayEnter(t))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := cluster.StartTrio(ctx, cluster.Options{})
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	}()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(commit(ctx, r.Servers[0].URL, "CREATE TABLE kept (n INT)"))
	for n := range 3 {
		former := r.Primary()
		if n == 1 {
			must(r.Freeze(former))
		} else {
			must(r.Servers[former].Kill(ctx))
		}
		must(r.Failover(ctx))
		if n == 1 {
			must(r.Wake(former))
		}
		if r.Primary() == former {
			t.Fatalf("server %d is the primary again", former)
		}
		soon, cancel := context.WithTimeout(ctx, 5*time.Second)
		must(commit(soon, r.Servers[r.Primary()].URL, "INSERT INTO kept VALUES (1)"))
		cancel()
		must(r.Rejoin(ctx, former))
	}
}
