package cluster_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

func TestAClusterStartsAnswersAndGoes(t *testing.T) {
	t.Setenv("TMPDIR", tempThatOthersMayEnter(t))
	c, err := cluster.Start(t.Context(), cluster.Options{Durable: true})
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), c.URL)
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{
		"fsync": "on", "synchronous_commit": "on", "server_encoding": "UTF8", "lc_collate": "C", "max_connections": "200",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), "select current_setting($1)", setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", setting, got, err, want)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		t.Errorf("something still listens on %s after Stop", u.Host)
		_ = conn.Close()
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("Stop left %v in the temporary folder (%v)", left, err)
	}
}

func TestAStartThatIsNotWaitedForLeavesNothing(t *testing.T) {
	if _, err := cluster.Binaries(); err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", tempThatOthersMayEnter(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cluster.Start(ctx, cluster.Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Start answered %v", err)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("a start that was given up left %v (%v)", left, err)
	}
}

// tempThatOthersMayEnter returns a temporary folder that the unprivileged user can enter. The
// folder of the testing package is closed to other users.
func tempThatOthersMayEnter(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kobo-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o1777); err != nil {
		t.Fatal(err)
	}
	return dir
}
