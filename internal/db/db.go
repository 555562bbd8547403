// Package db gives all other packages access to the database, which is SQLite or PostgreSQL.
//
// Both engines share one SQL text. The text is written for PostgreSQL, with parameters such as $1,
// and uses only what both engines support. The package replaces the few expressions that SQLite
// spells differently (dialect.go). Only the writer of the ledger's batches has a separate
// implementation for each engine (pipeline.go).
//
// All values are TEXT or BIGINT and never NULL. "" and 0 mean that a value is absent. If the
// database is unavailable or cannot write, the error is a fault of kind Unavailable. So no caller
// needs to know the engines' error codes.
package db

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
)

// Dialect is the name of a database engine.
type Dialect string

// These are the two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNone is the error of One when no row matches.
var ErrNone = errors.New("db: no such row")

// Scanner reads one row into variables.
type Scanner interface {
	Scan(dest ...any) error
}

// Rows is the result of a query while it is being read. The caller that reads the rows must close
// them.
type Rows interface {
	Scanner
	Next() bool
	Close()
	Err() error
}

// Querier runs SQL statements. It is either the database or a transaction.
type Querier interface {
	// Exec runs an SQL statement and returns the number of changed rows.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query runs an SQL statement that returns rows. Outside a transaction Query can only read. An
	// SQL statement that writes and returns rows needs a Tx.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// engine is SQLite or PostgreSQL.
type engine interface {
	Querier
	begin(ctx context.Context) (tx, error)
	snapshot(ctx context.Context) (tx, error)
	heavy(ctx context.Context, limit time.Duration) (tx, error)
	pipeline() Pipeline
	prepare(ctx context.Context, query string) error
	ping(ctx context.Context) error
	doubts() uint64
	pools() []poolState
	place(company string) string
	isRouted() bool
	reads() (answered, missed int64)
	close()
}

type tx interface {
	Querier
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// DB is an open database. Several goroutines may use it concurrently.
type DB struct {
	engine
	dialect    Dialect
	turns      turns
	heavyLimit time.Duration
	signer     Signer
	served     atomic.Int64                // the oldest schema whose programs may run, as Fits has read it first; 0 before
	place      func(company string) string // of Pools.Place, or nil
	twice      bool                        // of Pools.Twice
}

// CheckURL returns an error if Open does not understand the URL. It does not connect to the
// database.
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

// Open opens the database at url, which is "sqlite:/path/to/file.db" or "postgres://…". It does not
// migrate the schema.
func Open(ctx context.Context, url string) (*DB, error) { return OpenWith(ctx, url, Pools{}) }

// OpenWith does the same as Open, and divides the connections as pools states.
func OpenWith(ctx context.Context, url string, pools Pools) (*DB, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	d := &DB{dialect: Postgres, heavyLimit: cmp.Or(pools.Heavy, usualHeavy), place: pools.Place, twice: pools.Twice}
	var err error
	if path, lite := SQLitePath(url); lite {
		if pools.Replica != "" {
			return nil, errors.New("db: only PostgreSQL has replicas")
		}
		d.dialect = SQLite
		d.engine, err = openSQLite(ctx, path)
	} else {
		d.engine, err = openPostgres(ctx, url, pools)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dialect returns the name of this database's engine.
func (d *DB) Dialect() Dialect { return d.dialect }

// Place returns the place that holds the rows of a company, such as a node of a database that divides
// its tables by company. It is "" for a database with one place, as SQLite and PostgreSQL are. The
// answer may be stale. It decides which companies share a transaction and which connection a
// statement takes, and never whether a result is right.
func (d *DB) Place(company string) string {
	if d.place != nil {
		return d.place(company)
	}
	return d.engine.place(company)
}

// IsDivided reports whether the rows of companies are on several nodes, and may move from one to another.
func (d *DB) IsDivided() bool {
	p, ok := d.engine.(*postgres)
	return ok && p.nodes.divided.Load()
}

// Routed reports whether a statement about several companies asks several nodes (nodes, Pools.Routed).
// Work that a commit causes then names one company in each statement.
func (d *DB) Routed() bool { return d.isRouted() }

// Ping returns an error unless the database responds and can write. On PostgreSQL with at least four
// connections, it does not wait for connections that other work uses.
func (d *DB) Ping(ctx context.Context) error { return d.ping(ctx) }

// Doubts returns the number of events after which the database may show a row that its standby does
// not have. These events are a COMMIT without a reply, the end of such a COMMIT, and a new
// connection. A new connection counts because the server may have restarted. Connections for
// reads (Reading, Heavy) and for Ping do not count, because no refusal and no stored response rests
// on their rows. A later COMMIT that succeeds ends the doubt about its place (Place), because its standby
// then has all earlier rows too.
//
// An operator may end another program's wait for the standby. Only that other program gets a
// warning or loses its connection, so Doubts of this program does not count the event.
//
// SQLite has no standby, so the number stays 0.
func (d *DB) Doubts() uint64 { return d.engine.doubts() }

// Prepare checks that the engine understands an SQL statement, without running it. On PostgreSQL it also checks that
// each number among the parameters may have 64 bits.
func (d *DB) Prepare(ctx context.Context, query string) error { return d.prepare(ctx, query) }

// Close waits for the running SQL statements and closes the database.
func (d *DB) Close() { d.close() }

// All runs a query and returns all its rows. The function scan reads each row into a value.
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

// One runs a query and returns its first row. The function scan reads the row into a value. If
// there is no row, it returns ErrNone.
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

// OrZero replaces the error ErrNone, which One returns, with the zero value and no error.
func OrZero[T any](v T, err error) (T, error) {
	if errors.Is(err, ErrNone) {
		err = nil // v is the zero value already
	}
	return v, err
}

// Reserve assigns a key to an owner, unless the key has an owner already. It returns the key's
// owner, which is the first owner that reserved the key. Reserve first runs the SQL statement
// insert, with the key's values and the owner as parameters. This SQL statement must do nothing if
// the key has a row already. Reserve then runs the SQL statement read, which selects the owner by
// the key's values.
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

// Map runs a query that selects two columns. It returns a map from the first column to the second.
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

// Value reads a row that has a single column.
func Value[T any](s Scanner) (T, error) {
	var v T
	err := s.Scan(&v)
	return v, err
}

// Flag returns a boolean in the form that a column stores, 1 or 0.
func Flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
