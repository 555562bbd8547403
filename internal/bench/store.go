package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
)

// ownName matches the names of databases that the bench may create and drop.
var ownName = regexp.MustCompile(`^kobo_bench_[a-z0-9_]{1,40}$`)

// ErrForeign is the refusal of a database that the bench has not created.
var ErrForeign = errors.New("kobo bench only creates and drops databases whose names begin with kobo_bench_")

// server is a PostgreSQL server on which the bench may create databases, or the coordinator of a Citus. The URL
// names an existing database, to which the bench only connects.
type server struct{ url string }

// run runs an SQL statement in a database.
func run(ctx context.Context, address, statement string, args ...any) error {
	d, err := db.Open(ctx, address)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.Exec(ctx, statement, args...)
	return err
}

// node is a server of a Citus. Its URL leads to the database of the server's URL.
type node struct {
	host  string
	port  int64
	group int64 // 0 for the coordinator
	url   string
}

// nodes returns all nodes of a Citus, the coordinator first. It returns only the server's own URL for a PostgreSQL
// that divides nothing.
func (s server) nodes(ctx context.Context) ([]node, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, errURL
	}
	d, err := db.Open(ctx, s.url)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err = d.Ping(ctx); err != nil || !d.IsDivided() {
		return []node{{url: s.url}}, err
	}
	q := u.Query()
	for _, other := range []string{"host", "port", "target_session_attrs"} {
		q.Del(other)
	}
	u.RawQuery = q.Encode()
	all, err := db.All(ctx, d, func(row db.Scanner) (n node, err error) {
		err = row.Scan(&n.host, &n.port, &n.group)
		u.Host = net.JoinHostPort(n.host, strconv.FormatInt(n.port, 10))
		if n.url = u.String(); n.group == 0 {
			n.url = s.url
		}
		return n, err
	}, `SELECT nodename::text, nodeport::bigint, groupid::bigint FROM pg_dist_node WHERE noderole = 'primary' AND isactive ORDER BY groupid`)
	if err == nil && (len(all) == 0 || all[0].group != 0) {
		err = errors.New("the Citus does not know its coordinator: see citus_set_coordinator_host")
	}
	return all, err
}

// create creates a database, which must not exist, and returns its URL. On a Citus it creates one on each node,
// and lets the coordinator's know the others. After an error it drops what it has created.
func (s server) create(ctx context.Context, name string) (address string, err error) {
	if !ownName.MatchString(name) {
		return "", fmt.Errorf("%w, not %q", ErrForeign, name)
	}
	nodes, err := s.nodes(ctx)
	if err != nil {
		return "", err
	}
	var made []node
	defer func() {
		if err != nil {
			err = errors.Join(err, dropFrom(context.WithoutCancel(ctx), name, made))
		}
	}()
	for _, n := range nodes {
		if err := run(ctx, n.url, "CREATE DATABASE "+name); err != nil { // the name is a plain word, and a name cannot be a parameter
			return "", err
		}
		made = append(made, n)
	}
	if address, err = withPath(s.url, name); err != nil || len(nodes) == 1 {
		return address, err
	}
	for _, n := range nodes {
		own, err := withPath(n.url, name)
		if err == nil {
			err = run(ctx, own, "CREATE EXTENSION citus")
		}
		if err != nil {
			return "", err
		}
	}
	for _, n := range nodes {
		join := `SELECT citus_add_node($1, $2)`
		if n.group == 0 {
			join = `SELECT citus_set_coordinator_host($1, $2)`
		}
		if err := run(ctx, address, join, n.host, n.port); err != nil {
			return "", err
		}
	}
	shards, err := s.shards(ctx)
	if err != nil {
		return "", err
	}
	return withParameter(address, shardCount, shards)
}

// shardCount is the setting of a Citus for the number of shards of each new table.
const shardCount = "citus.shard_count"

// shards returns the setting shardCount in the database of the server's URL.
func (s server) shards(ctx context.Context) (string, error) {
	d, err := db.Open(ctx, s.url)
	if err != nil {
		return "", err
	}
	defer d.Close()
	return db.One(ctx, d, db.Value[string], `SELECT current_setting($1)`, shardCount)
}

func withPath(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errURL
	}
	u.Path = "/" + name
	return u.String(), nil
}

// errURL does not contain the URL, which may have a password.
var errURL = errors.New("the PostgreSQL URL cannot be read")

// withParameter returns a URL with a parameter set.
func withParameter(address, name, value string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errURL
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// The two commits of a rival's purchases. The text is parsed as an array of PostgreSQL.
const (
	beginRival = `SELECT rival_begin($1, CAST(CAST($2 AS TEXT) AS TEXT[]))`
	endRival   = `SELECT rival_end($1, CAST(CAST($2 AS TEXT) AS TEXT[]))`
)

// drop removes a database of the bench from each node, and ends its connections.
func (s server) drop(ctx context.Context, name string) error {
	if !ownName.MatchString(name) {
		return fmt.Errorf("%w, not %q", ErrForeign, name)
	}
	nodes, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	return dropFrom(ctx, name, nodes)
}

// dropFrom drops a database from nodes, also from those after one that fails. The daemons of a Citus may connect to the
// database again at once, so it tries several times.
func dropFrom(ctx context.Context, name string, nodes []node) (failed error) {
	tries := 1
	if len(nodes) > 1 {
		tries = 10
	}
	for _, n := range nodes {
		var err error
		for range tries {
			if err = run(ctx, n.url, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err == nil {
				break
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// written is what a database server has done since its start.
type written struct {
	Commits, Fsyncs, WAL, Stored int64
	Files                        []file
}

func (w written) plus(o written) written {
	return written{w.Commits + o.Commits, w.Fsyncs + o.Fsyncs, w.WAL + o.WAL, w.Stored + o.Stored, append(w.Files, o.Files...)}
}

func (w written) less(o written) written {
	out := written{w.Commits - o.Commits, w.Fsyncs - o.Fsyncs, w.WAL - o.WAL, w.Stored - o.Stored, nil}
	before := map[string]int64{}
	for _, f := range o.Files {
		before[f.Name] = f.Bytes
	}
	for _, f := range w.Files {
		f.Bytes -= before[f.Name]
		out.Files = append(out.Files, f)
	}
	return out
}

// file is the size of a table without its indexes, or of an index. A row of a table has Name = Table.
type file struct {
	Table, Name string
	Bytes       int64
}

// writtenBy reads the statistics of a PostgreSQL server. Releases before 18 count the fsyncs of the
// write-ahead log in pg_stat_wal, and later ones in pg_stat_io.
func writtenBy(ctx context.Context, d *db.DB) (w written, err error) {
	scan := func(s db.Scanner) (w written, err error) {
		return w, s.Scan(&w.Commits, &w.WAL, &w.Stored)
	}
	w, err = db.One(ctx, d, scan, `SELECT s.xact_commit, CAST(w.wal_bytes AS BIGINT), pg_database_size(current_database())
		FROM pg_stat_database s, pg_stat_wal w WHERE s.datname = current_database()`)
	if err != nil {
		return w, err
	}
	w.Fsyncs, err = db.One(ctx, d, db.Value[int64], `SELECT wal_sync FROM pg_stat_wal`)
	if err != nil {
		w.Fsyncs, err = db.One(ctx, d, db.Value[int64], `SELECT CAST(sum(fsyncs) AS BIGINT) FROM pg_stat_io WHERE object = 'wal'`)
	}
	if err == nil {
		w.Files, err = db.All(ctx, d, db.Fields[file], `SELECT t.relname, c.relname, pg_table_size(c.oid) FROM pg_class AS c
			LEFT JOIN pg_index AS i ON i.indexrelid = c.oid JOIN pg_class AS t ON t.oid = coalesce(i.indrelid, c.oid)
			WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'i') ORDER BY t.relname, c.relkind DESC, c.relname`)
	}
	return w, err
}

// backend returns the process id of the server's process for a connection.
func backend(ctx context.Context, d *db.DB) (int, error) {
	return db.One(ctx, d, db.Value[int], `SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid()`)
}
