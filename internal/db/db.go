// Package db is the one door to the database, be it SQLite or PostgreSQL.
//
// Every statement of the house is written once, in PostgreSQL's words and with
// $1-style parameters, inside the subset that both engines share. The few words
// that SQLite spells differently are replaced here (dialect.go), and the
// set-wise writer behind the ledger has a body for each engine (pipeline.go).
//
// All values are TEXT or BIGINT and never NULL: "" and 0 stand for absent.
// An error that means "the database is away or cannot write" comes out as a
// fault of kind Unavailable, so no caller has to know the engines' codes.
package db

import (
	"context"
	"errors"
	"strings"
)

// Dialect names an engine.
type Dialect string

// The two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNone is what One returns when no row matches.
var ErrNone = errors.New("db: no such row")

// Scanner is one row, ready to be read into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Rows is a result being read. Close it.
type Rows interface {
	Scanner
	Next() bool
	Close()
	Err() error
}

// Querier runs statements: the database itself, or a transaction.
type Querier interface {
	// Exec runs a statement and tells how many rows it touched.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query runs a statement that answers with rows. On the database itself it
	// only reads; a statement that writes and returns belongs in a Tx.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// engine is what the two databases do differently.
type engine interface {
	Querier
	begin(ctx context.Context) (tx, error)
	snapshot(ctx context.Context) (tx, error)
	pipeline() Pipeline
	prepare(ctx context.Context, query string) error
	ping(ctx context.Context) error
	doubts() uint64
	close()
}

type tx interface {
	Querier
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// DB is an open database, safe for use by many.
type DB struct {
	engine
	dialect Dialect
}

// CheckURL refuses a URL that Open cannot open, wherever it points.
func CheckURL(url string) error {
	switch _, lite := SQLitePath(url); {
	case lite:
		return nil
	case isPostgres(url):
		_, _, err := maxConns(url)
		return err
	}
	return errors.New("db: the database URL must begin with sqlite: or postgres://")
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Open opens the database named by url: "sqlite:/path/to/file.db", or a
// "postgres://…" URL. It does not migrate it.
func Open(ctx context.Context, url string) (*DB, error) {
	d := &DB{}
	var err error
	path, lite := SQLitePath(url)
	switch {
	case lite:
		d.dialect = SQLite
		d.engine, err = openSQLite(ctx, path)
	case isPostgres(url):
		d.dialect = Postgres
		d.engine, err = openPostgres(ctx, url)
	default:
		err = CheckURL(url)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dialect is the engine behind this database.
func (d *DB) Dialect() Dialect { return d.dialect }

// Ping asks the database for a sign of life.
func (d *DB) Ping(ctx context.Context) error { return d.ping(ctx) }

// Doubts rises with each event after which the database may show a row that its
// standby does not have: a COMMIT of unknown fate, its end, and a new connection,
// since the server may have been started again. A write that was committed with a
// clean answer ends the doubt, for a standby that has it has all before it.
//
// Doubts does not see an operator end another program's wait for the standby. The
// warning or the lost connection tells that program alone.
//
// SQLite has no standby, and the number stays 0.
func (d *DB) Doubts() uint64 { return d.engine.doubts() }

// Prepare checks that the engine understands a statement, without running it.
func (d *DB) Prepare(ctx context.Context, query string) error { return d.prepare(ctx, query) }

// Close waits for what is running and closes the database.
func (d *DB) Close() { d.close() }

// All reads every row of a result with scan.
func All[T any](ctx context.Context, q Querier, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// One reads the first row of a result, or returns ErrNone.
func One[T any](ctx context.Context, q Querier, scan func(Scanner) (T, error), query string, args ...any) (T, error) {
	all, err := All(ctx, q, scan, query, args...)
	if err == nil && len(all) == 0 {
		err = ErrNone
	}
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// OrZero is what One returned, and the zero value where no row matches.
func OrZero[T any](v T, err error) (T, error) {
	if errors.Is(err, ErrNone) {
		err = nil // v is the zero value already
	}
	return v, err
}

// Map reads a result of two columns: a key and its value.
func Map[K comparable, V any](ctx context.Context, q Querier, query string, args ...any) (map[K]V, error) {
	out := map[K]V{}
	_, err := All(ctx, q, func(s Scanner) (struct{}, error) {
		var k K
		var v V
		err := s.Scan(&k, &v)
		out[k] = v
		return struct{}{}, err
	}, query, args...)
	return out, err
}

// Value scans a row of one column.
func Value[T any](s Scanner) (T, error) {
	var v T
	err := s.Scan(&v)
	return v, err
}

// Flag is a yes or no as a column keeps it: 1 or 0.
func Flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
