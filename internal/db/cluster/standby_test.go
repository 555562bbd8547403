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

// commit runs an SQL statement on a separate connection.
func commit(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// A standby that is promoted has every commit that got a reply. While both standbys are stopped, no
// commit gets a reply.
func TestAStandbyTakesThePlaceOfItsPrimary(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers take some seconds")
	}
	t.Setenv("TMPDIR", tempThatOthersMayEnter(t))
	r, err := cluster.StartReplicated(t.Context())
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	url := r.URL("postgres")
	if err := commit(t.Context(), url, "CREATE TABLE answered ()"); err != nil {
		t.Fatal(err)
	}
	if err := r.StopStandbys(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := commit(soon, url, "CREATE TABLE lonely ()"); err == nil {
		t.Error("a commit was answered without a standby")
	}
	first := r.Standbys[0]
	if err := errors.Join(r.Primary.Kill(t.Context()), first.Resume(), first.Promote()); err != nil {
		t.Fatal(err)
	}
	// The URL is unchanged, but now it connects to the new primary.
	if err := commit(t.Context(), url, "DROP TABLE answered, last_of_both"); err != nil {
		t.Error(err)
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("Stop left %v in the temporary folder (%v)", left, err)
	}
}
