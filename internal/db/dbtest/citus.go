package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
)

// citusVariable names the environment variable with the URL of the coordinator of a Citus. Its user is a
// superuser on all nodes, and the database in the URL has the extension and knows the workers. Without the
// variable, nothing runs on Citus.
const citusVariable = "KOBO_TEST_CITUS"

// shards is the number of shards of a table in the databases of tests. With few shards, a database is copied quickly.
const shards = 2

// spread is the number of shards of a table in the databases of CitusSpreadURL: two for each of three workers.
const spread = 6

// citus is a PostgreSQL whose extension Citus divides tables among several servers, the nodes.
type citus struct {
	coordinator url.URL
	nodes       []string // the addresses of all nodes, the coordinator first

	mu       sync.Mutex
	prepared map[string]bool // the names of the databases to copy that exist
}

// theCitus returns the Citus of citusVariable, or nil without the variable.
var theCitus = sync.OnceValues(func() (*citus, error) {
	address := os.Getenv(citusVariable)
	if address == "" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New(citusVariable + " is not a URL")
	}
	ctx := context.Background()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(ctx) }() // ignored, because nothing was written
	rows, err := c.Query(ctx, "SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid")
	if err != nil {
		return nil, err
	}
	nodes, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
		var host string
		var port int64
		err := r.Scan(&host, &port)
		return net.JoinHostPort(host, strconv.FormatInt(port, 10)), err
	})
	if err == nil && len(nodes) < 2 {
		err = errors.New(citusVariable + " leads to a Citus without a worker")
	}
	return &citus{coordinator: *u, nodes: nodes, prepared: map[string]bool{}}, err
})

// HasCitus reports whether there is a Citus to test on.
func HasCitus() bool { return os.Getenv(citusVariable) != "" }

// CitusURL returns the URL of a new database with the current schema, which Citus divides among its nodes.
// Without a Citus the test is skipped.
func CitusURL(t testing.TB) string { return citusURL(t, true, shards) }

// CitusSpreadURL does the same as CitusURL for measurements, with as many shards as three workers need.
func CitusSpreadURL(t testing.TB) string { return citusURL(t, true, spread) }

// EmptyCitusURL does the same as CitusURL, without the schema.
func EmptyCitusURL(t testing.TB) string { return citusURL(t, false, shards) }

// CitusNodes returns the URLs of a database at all nodes of Citus, the coordinator first.
func CitusNodes(t testing.TB, database string) (all []string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	for _, node := range needCitus(t).nodes {
		all = append(all, at(*u, node, u.Path))
	}
	return all
}

// onCitus reports whether the URL leads to a database of the Citus of citusVariable.
func onCitus(database string) bool {
	c, err := theCitus()
	u, wrong := url.Parse(database)
	return err == nil && wrong == nil && c != nil && u.Host == c.nodes[0]
}

func needCitus(t testing.TB) *citus {
	t.Helper()
	c, err := theCitus()
	if err != nil {
		t.Fatalf("dbtest: no Citus to test on: %v", err)
	}
	if c == nil {
		noCitus(t)
	}
	return c
}

// noCitus skips a test because there is no Citus.
func noCitus(t testing.TB) {
	t.Helper()
	t.Skip("NOT RUN on Citus: " + citusVariable + " is not set")
}

// OneServer skips a test of PostgreSQL's plans on a Citus, which shows plans of its own and gets other SQL
// statements.
func OneServer(t testing.TB, d *db.DB) {
	t.Helper()
	if d.IsDivided() {
		t.Skip("NOT RUN on Citus: the plan is that of one server")
	}
}

func citusURL(t testing.TB, withSchema bool, shards int) string {
	t.Helper()
	c := needCitus(t)
	template, err := c.template(context.Background(), withSchema, shards)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	name := "kobo_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := c.everywhere(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		// The context of the test has already ended here.
		if err := c.drop(context.Background(), name); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	return c.url(name)
}

func (c *citus) url(database string) string { return at(c.coordinator, c.nodes[0], "/"+database) }

func at(u url.URL, node, path string) string {
	u.Host, u.Path = node, path
	return u.String()
}

// everywhere runs SQL statements at each node, in the database of the variable. Citus would not run all of
// them on the workers.
func (c *citus) everywhere(ctx context.Context, statements ...string) error {
	return c.eachNode(ctx, c.coordinator.Path, append([]string{"SET citus.enable_ddl_propagation = off"}, statements...)...)
}

func (c *citus) eachNode(ctx context.Context, path string, statements ...string) error {
	failed := make([]error, len(c.nodes))
	var all sync.WaitGroup
	for i, node := range c.nodes {
		all.Go(func() { failed[i] = c.atNode(ctx, node, path, statements) })
	}
	all.Wait()
	return errors.Join(failed...)
}

func (c *citus) atNode(ctx context.Context, node, path string, statements []string) error {
	u, err := url.Parse(at(c.coordinator, node, path))
	if err != nil {
		return err
	}
	return (&postgres{maintenance: *u}).connected(ctx, func(conn *pgx.Conn) error {
		for _, s := range statements {
			if err := run(ctx, conn, s); err != nil {
				return fmt.Errorf("%s: %w", node, err)
			}
		}
		return nil
	})
}

// closing returns the SQL statements that end all connections to a database, also those of Citus.
func closing(database string) []string {
	return []string{
		"ALTER DATABASE " + database + " WITH ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" + database + "'",
	}
}

// drop removes a database from all nodes. A process of Citus may connect to it again after its connections
// have ended, so drop tries several times.
func (c *citus) drop(ctx context.Context, database string) error {
	if err := c.everywhere(ctx, closing(database)...); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := c.everywhere(ctx, append(closing(database)[1:], "DROP DATABASE IF EXISTS "+database+" WITH (FORCE)")...)
		if err == nil || try == 10 {
			return err
		}
	}
}

// template returns the name of a database to copy. It is on each node, and accepts no connections. The
// copies on all nodes together are a Citus again, because its catalogue is in the database.
func (c *citus) template(ctx context.Context, withSchema bool, shards int) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash, err := schemaHash()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("kobo_template_%s_%d_%d", hash, len(c.nodes), shards)
	if !withSchema {
		name = fmt.Sprintf("kobo_template_empty_%d_%d", len(c.nodes), shards)
	}
	if c.prepared[name] {
		return name, nil
	}
	err = (&postgres{maintenance: c.coordinator}).connected(ctx, func(conn *pgx.Conn) error { return c.build(ctx, conn, name, withSchema, shards) })
	c.prepared[name] = err == nil
	return name, err
}

// build makes a database to copy, as buildTemplate does.
func (c *citus) build(ctx context.Context, conn *pgx.Conn, name string, withSchema bool, shards int) error {
	if err := run(ctx, conn, "SELECT pg_advisory_lock(hashtext('kobo_template'))"); err != nil {
		return err
	}
	var exists bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	draft := name + "_draft"
	err = c.everywhere(ctx, "DROP DATABASE IF EXISTS "+draft+" WITH (FORCE)",
		"CREATE DATABASE "+draft+" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
	if err == nil {
		err = c.eachNode(ctx, "/"+draft, "CREATE EXTENSION citus")
	}
	if err == nil {
		err = c.join(ctx, draft)
	}
	if err == nil {
		err = c.everywhere(ctx, fmt.Sprintf("ALTER DATABASE %s SET citus.shard_count = %d", draft, shards))
	}
	if err == nil && withSchema {
		err = migrate(ctx, c.url(draft))
	}
	if err == nil {
		err = c.everywhere(ctx, closing(draft)...)
	}
	if err == nil {
		err = c.everywhere(ctx, "DROP DATABASE IF EXISTS "+name, "ALTER DATABASE "+draft+" RENAME TO "+name)
	}
	return err
}

// join lets the coordinator of a new database know its workers.
func (c *citus) join(ctx context.Context, database string) error {
	u, err := url.Parse(c.url(database))
	if err != nil {
		return err
	}
	return (&postgres{maintenance: *u}).connected(ctx, func(conn *pgx.Conn) error {
		for i, node := range c.nodes {
			host, port, err := net.SplitHostPort(node)
			if err != nil {
				return err
			}
			join := fmt.Sprintf("SELECT citus_add_node('%s', %s)", host, port)
			if i == 0 {
				join = fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %s)", host, port)
			}
			if err := run(ctx, conn, join); err != nil {
				return err
			}
		}
		return nil
	})
}

// Crash kills the server process of a connection to a node with the signal 9. The server then ends all
// other connections, and starts again with the write-ahead log.
func Crash(t testing.TB, node string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), node)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	var waits string
	if err := c.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&waits); err != nil || waits == "off" {
		t.Fatalf("dbtest: a crash loses commits, because synchronous_commit is %s at %s: %v", waits, node, err)
	}
	if err := run(t.Context(), c, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'"); err == nil {
		t.Fatal("dbtest: the server does not crash")
	}
}

// Distribute divides the tables that a test has made, if the database is a Citus.
func Distribute(t testing.TB, d *db.DB) {
	t.Helper()
	wrong, err := d.Misplaced(t.Context())
	if err == nil && len(wrong) > 0 {
		err = d.Migrate(t.Context())
	}
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
}

// Column runs an SQL statement at a server, in a connection of its own, and returns the first column of its rows as text.
func Column(t testing.TB, server, statement string) []string {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }() // ignored, because each statement has committed
	rows, err := c.Query(ctx, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	values, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
		all, err := r.Values()
		if err != nil || len(all) == 0 {
			return "", err
		}
		return fmt.Sprint(all[0]), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return values
}
