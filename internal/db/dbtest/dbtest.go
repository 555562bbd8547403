// Package dbtest provides each test with a new database that has the current schema, on SQLite or
// on PostgreSQL.
//
// For each engine, the package migrates one database and then copies it for every test, which takes
// only milliseconds. A SQLite database is a file in the test's temporary folder. For PostgreSQL,
// the environment variable KOBO_TEST_POSTGRES may contain the URL of a server. The user in this URL
// must have the right to create databases. Without the variable, the test process starts a private
// server, which stops when the process ends. If PostgreSQL is not installed, the PostgreSQL tests
// are skipped with a message. If the environment variable CI is "true", they fail instead.
package dbtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Dialects lists the engines that each test runs on.
var Dialects = []db.Dialect{db.SQLite, db.Postgres}

// Citus names a Citus where a test names an engine. Its dialect is that of PostgreSQL.
const Citus db.Dialect = "citus"

// Servers returns the Dialects, and Citus if the environment variable KOBO_TEST_CITUS leads to one.
func Servers() []db.Dialect {
	if HasCitus() {
		return append(slices.Clone(Dialects), Citus)
	}
	return Dialects
}

// runner is the type of a test or a benchmark, *testing.T or *testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

// Each runs f as two subtests (or two sub-benchmarks), "sqlite" and "postgres". Each subtest gets a
// new database with the current schema. If the environment variable KOBO_TEST_CITUS leads to a Citus,
// there is a third subtest "citus".
func Each[T runner[T]](t T, f func(t T, d *db.DB)) {
	t.Helper()
	for _, dialect := range Servers() {
		t.Run(string(dialect), func(t T) { f(t, New(t, dialect)) })
	}
}

// EachForm does the same as Each, with a third subtest "postgres-routed". In it PostgreSQL gets the
// statements of a database that divides its tables by company (db.Pools.Routed).
func EachForm[T runner[T]](t T, f func(t T, d *db.DB)) {
	t.Helper()
	Each(t, f)
	t.Run("postgres-routed", func(t T) { f(t, OpenWith(t, URL(t, db.Postgres), db.Pools{Routed: true})) })
}

// New returns a new database with the current schema. The database closes when the test ends.
func New(t testing.TB, dialect db.Dialect) *db.DB {
	t.Helper()
	return Open(t, URL(t, dialect))
}

// Open opens a database and closes it when the test ends. Each snapshot runs its function twice.
func Open(t testing.TB, url string) *db.DB {
	t.Helper()
	return OpenWith(t, url, db.Pools{Twice: true})
}

// OpenWith does the same as Open, with a division of the connections.
func OpenWith(t testing.TB, url string, pools db.Pools) *db.DB {
	t.Helper()
	d, err := db.OpenWith(t.Context(), url, pools)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(d.Close)
	d.SignWith(Evidence)
	return d
}

// Evidence contains the fixed evidence key of tests.
var Evidence = func() *secret.Evidence {
	k, err := secret.Parse("test:" + strings.Repeat("A", 43))
	if err != nil {
		panic(err)
	}
	return k.Evidence()
}()

// URL returns the URL of a new database with the current schema. The database is not open yet, so a
// test can start a whole program on it. The database is removed when the test ends.
func URL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	switch dialect {
	case db.Postgres:
		return postgresURL(t, true)
	case Citus:
		return CitusURL(t)
	}
	url := EmptyURL(t, dialect)
	if err := copySQLite(t.Context(), url); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return url
}

// EmptyURL returns the URL of a new database without a schema.
func EmptyURL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	switch dialect {
	case db.Postgres:
		return postgresURL(t, false)
	case Citus:
		return EmptyCitusURL(t)
	}
	return sqliteURL(filepath.Join(t.TempDir(), "kobo.db"))
}
