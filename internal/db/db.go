// Package db is the only way to the database, SQLite or PostgreSQL.
//
// There is one SQL text for both engines: PostgreSQL's, with $1-style parameters,
// inside the subset that both share. The package replaces the few words that SQLite
// spells differently (dialect.go). The set-wise writer of the ledger has an
// implementation for each engine (pipeline.go).
//
// All values are TEXT or BIGINT and never NULL: "" and 0 stand for absent.
// If the database is away or cannot write, the error is a fault of kind
// Unavailable. So no caller needs to know the engines' codes.
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

// ErrNone is the error of One if no row matches.
var ErrNone = errors.New("db: no such row")

// Scanner reads one row into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Rows is a result while it is read. The reader closes it.
type Rows interface {
	Scanner
	Next() bool
	Close()
	Err() error
}

// Querier runs statements: the database itself, or a transaction.
type Querier interface {
	// Exec runs a statement and returns the number of changed rows.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query runs a statement that returns rows. On the database itself Query only
	// reads. A statement that writes and returns rows needs a Tx.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// engine is one of the two databases.
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

// DB is an open database. Goroutines may share it.
type DB struct {
	engine
	dialect Dialect
}

// CheckURL returns an error for a URL that Open does not understand. It connects to nothing.
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

// Open opens the database at url: "sqlite:/path/to/file.db" or "postgres://…".
// It does not migrate the schema.
func Open(ctx context.Context, url string) (*DB, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	d := &DB{dialect: Postgres}
	var err error
	if path, lite := SQLitePath(url); lite {
		d.dialect = SQLite
		d.engine, err = openSQLite(ctx, path)
	} else {
		d.engine, err = openPostgres(ctx, url)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dialect returns the engine of this database.
func (d *DB) Dialect() Dialect { return d.dialect }

// Ping checks that the database answers and can write.
func (d *DB) Ping(ctx context.Context) error { return d.ping(ctx) }

// Doubts counts the events after which the database may show a row that its standby
// does not have. These are a COMMIT without an answer, the end of such a COMMIT, and a
// new connection, since the server may have restarted. A later COMMIT with a clean
// answer ends the doubt, since its standby has all earlier rows too.
//
// An operator may end another program's wait for the standby. Only that program gets
// the warning or loses the connection, so Doubts does not count the event here.
//
// SQLite has no standby, and the number stays 0.
func (d *DB) Doubts() uint64 { return d.engine.doubts() }

// Prepare checks that the engine understands a statement, without running it.
func (d *DB) Prepare(ctx context.Context, query string) error { return d.prepare(ctx, query) }

// Close waits for the running statements and closes the database.
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

// OrZero replaces ErrNone, an error of One, by the zero value.
func OrZero[T any](v T, err error) (T, error) {
	if errors.Is(err, ErrNone) {
		err = nil // v is the zero value already
	}
	return v, err
}

// Reserve gives a key to an owner, and returns the owner of the key: the first one that
// asked. Insert takes the key's values and the owner, and yields to a row with the key.
// Read returns the owner by the key's values.
func Reserve(ctx context.Context, d *DB, insert, read, owner string, key ...any) (first string, err error) {
	err = d.Tx(ctx, func(q Querier) error {
		if _, err := q.Exec(ctx, insert, append(key[:len(key):len(key)], owner)...); err != nil {
			return err
		}
		first, err = One(ctx, q, Value[string], read, key...)
		return err
	})
	return first, err
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

// Flag returns a boolean as a column holds it: 1 or 0.
func Flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
