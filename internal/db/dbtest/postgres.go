package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/kobo-waas/kobo/internal/db/cluster"
	"github.com/kobo-waas/kobo/internal/db/migration"
)

// postgresURL creates a database for the test and drops it when the test ends.
func postgresURL(t testing.TB, withSchema bool) string {
	t.Helper()
	s, err := server()
	if err != nil {
		unavailable(t, err)
	}
	template := "template0"
	if withSchema {
		if template, err = s.migratedTemplate(t.Context()); err != nil {
			t.Fatalf("dbtest: %v", err)
		}
	}
	name := "kobo_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := s.copyDatabase(t.Context(), name, template); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		// The context of the test has already ended here.
		if err := s.execute(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	return s.url(name)
}

// unavailable skips or fails the test because there is no PostgreSQL. Only this function may skip a
// test.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, cluster.ErrAbsent) && os.Getenv("CI") != "true" {
		t.Skipf("NOT RUN on PostgreSQL: %v", err)
	}
	t.Fatalf("dbtest: no PostgreSQL to test on: %v", err)
}

// Replicated returns a primary with two standbys, used only by this test, and an empty database on
// them. The primary replies to a commit only when one standby has it.
func Replicated(t testing.TB, database string) *cluster.Replicated {
	t.Helper()
	r, err := replicated(t, database, cluster.StartReplicated, func(r *cluster.Replicated) string { return r.Primary.URL })
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return r
}

// Trio starts three servers with an empty database, of which each can become the primary. It skips like Replicated.
func Trio(t testing.TB, database string) *cluster.Trio {
	t.Helper()
	r, err := replicated(t, database, startTrio, func(r *cluster.Trio) string { return r.Servers[r.Primary()].URL })
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return r
}

func replicated[R interface{ Stop() error }](t testing.TB, database string, start func(context.Context) (R, error), primary func(R) string) (R, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: three servers and a failover take a minute")
	}
	r, err := start(t.Context())
	if err != nil {
		unavailable(t, err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	u, err := url.Parse(primary(r))
	if err == nil {
		err = (&postgres{maintenance: *u}).connected(t.Context(), func(c *pgx.Conn) error { return run(t.Context(), c, "CREATE DATABASE "+database) })
	}
	return r, err
}

// postgres is the server on which the tests run.
type postgres struct {
	maintenance url.URL
	// own is the cluster that this process has started, if any. The field prevents the garbage
	// collector from closing the pipe to the supervisor, which would stop the server.
	own *cluster.Cluster
	// pool keeps connections for CREATE and DROP DATABASE. A new one costs as much as a copy of the template.
	pool *pgxpool.Pool

	mu       sync.Mutex
	template string // the name of the migrated database to copy; "" before it exists
}

// server returns the server at KOBO_TEST_POSTGRES, or starts a cluster for this process. The
// supervisor of the cluster stops the cluster when this process ends.
var server = sync.OnceValues(func() (*postgres, error) {
	var own *cluster.Cluster
	address := os.Getenv("KOBO_TEST_POSTGRES")
	if address == "" {
		c, err := cluster.Start(context.Background(), cluster.Options{Durable: os.Getenv("KOBO_TEST_DURABLE") != ""})
		if err != nil {
			return nil, err
		}
		own, address = c, c.URL
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("KOBO_TEST_POSTGRES is not a URL")
	}
	pool, err := pgxpool.New(context.Background(), address)
	if err != nil {
		return nil, err
	}
	return &postgres{maintenance: *u, own: own, pool: pool}, nil
})

// url returns the URL of a database on the server.
func (p *postgres) url(database string) string {
	u := p.maintenance
	u.Path = "/" + database
	return u.String()
}

func (p *postgres) execute(ctx context.Context, statement string) error {
	_, err := p.pool.Exec(ctx, statement)
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// copyDatabase creates a database as a copy of another one. On a server that does not wait for the disk, copying files takes a third of the
// time of the usual way, which writes each page to the log.
func (p *postgres) copyDatabase(ctx context.Context, name, template string) error {
	var quick bool
	err := p.pool.QueryRow(ctx, "SELECT current_setting('fsync') = 'off' AND current_setting('server_version_num')::int >= 150000").Scan(&quick)
	if err != nil {
		return err
	}
	strategy := ""
	if quick {
		strategy = " STRATEGY file_copy"
	}
	return p.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+strategy)
}

func (p *postgres) connected(ctx context.Context, use func(*pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, p.maintenance.String())
	if err != nil {
		return err
	}
	return errors.Join(use(c), c.Close(ctx))
}

func run(ctx context.Context, c *pgx.Conn, statement string) error {
	if _, err := c.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// migratedTemplate returns the name of a database with the current schema. The database accepts no
// connections, so it can always be copied. Its name contains a hash of the migrations. So after a
// change of a migration, a server gets a new template.
func (p *postgres) migratedTemplate(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.template != "" {
		return p.template, nil
	}
	hash, err := schemaHash()
	if err != nil {
		return "", err
	}
	name := "kobo_template_" + hash
	if err := p.connected(ctx, func(c *pgx.Conn) error { return p.buildTemplate(ctx, c, name) }); err != nil {
		return "", err
	}
	p.template = name
	return name, nil
}

// buildTemplate migrates a database under a temporary name and then renames it. So a process that
// dies in between leaves no incomplete template. The test processes of other packages wait for the
// advisory lock.
func (p *postgres) buildTemplate(ctx context.Context, c *pgx.Conn, name string) error {
	if err := run(ctx, c, "SELECT pg_advisory_lock(hashtext('kobo_template'))"); err != nil {
		return err
	}
	var exists bool
	err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	draft := name + "_draft"
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + draft + " WITH (FORCE)",
		"CREATE DATABASE " + draft + " TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'",
	} {
		if err := run(ctx, c, statement); err != nil {
			return err
		}
	}
	if err := migrate(ctx, p.url(draft)); err != nil {
		return err
	}
	for _, statement := range []string{
		"ALTER DATABASE " + draft + " WITH ALLOW_CONNECTIONS false",
		// The server process of a closed connection may need a moment to end.
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" + draft + "'",
		"ALTER DATABASE " + draft + " RENAME TO " + name,
	} {
		if err := run(ctx, c, statement); err != nil {
			return err
		}
	}
	return nil
}

// schemaHash returns a short hash of the content of all migrations.
func schemaHash() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(migration.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migration.Files, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

func startTrio(ctx context.Context) (*cluster.Trio, error) {
	return cluster.StartTrio(ctx, cluster.Options{})
}
