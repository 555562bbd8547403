package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/kobo-waas/kobo/internal/db"
)

// ownName matches the names of databases that the bench may create and drop.
var ownName = regexp.MustCompile(`^kobo_bench_[a-z0-9_]{1,40}$`)

// ErrForeign is the refusal of a database that the bench has not created.
var ErrForeign = errors.New("kobo bench only creates and drops databases whose names begin with kobo_bench_")

// server is a PostgreSQL server on which the bench may create databases. The URL names an existing
// database, to which the bench only connects.
type server struct{ url string }

func (s server) exec(ctx context.Context, name, command string) error {
	if !ownName.MatchString(name) {
		return fmt.Errorf("%w, not %q", ErrForeign, name)
	}
	d, err := db.Open(ctx, s.url)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.Exec(ctx, fmt.Sprintf(command, name)) // the name is a plain word, and a name cannot be a parameter
	return err
}

// create creates a database, which must not exist, and returns its URL.
func (s server) create(ctx context.Context, name string) (string, error) {
	u, err := url.Parse(s.url)
	if err != nil {
		return "", errURL
	}
	u.Path = "/" + name
	return u.String(), s.exec(ctx, name, "CREATE DATABASE %s")
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

// drop removes a database of the bench, and ends its connections.
func (s server) drop(ctx context.Context, name string) error {
	return s.exec(ctx, name, "DROP DATABASE IF EXISTS %s WITH (FORCE)")
}

// written is what a database server has done since its start.
type written struct {
	Commits, Fsyncs, WAL, Stored int64
	Files                        []file
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
