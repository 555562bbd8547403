// Package dbtest gives a test a fresh database with the current schema. It does so on SQLite and on
// PostgreSQL, within milliseconds.
//
// The package migrates one database, and each further database is a copy of it. A SQLite database
// is a file in the test's temporary folder. If KOBO_TEST_POSTGRES is set, it is the URL of the
// PostgreSQL server, with the right to create databases. Otherwise the server is a private cluster,
// which the test's process starts and which ends with this process. If there is no PostgreSQL, the
// tests on it are skipped with a message. With CI=true they fail instead.
package dbtest

import (
	"path/filepath"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// Dialects lists the engines that each test runs on.
var Dialects = []db.Dialect{db.SQLite, db.Postgres}

// runner is the type of a test or a benchmark, *testing.T or *testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

// Each runs f as two subtests (or two sub-benchmarks), "sqlite" and "postgres". Each run gets a
// fresh, migrated database.
func Each[T runner[T]](t T, f func(t T, d *db.DB)) {
	t.Helper()
	for _, dialect := range Dialects {
		t.Run(string(dialect), func(t T) { f(t, New(t, dialect)) })
	}
}

// New returns a fresh, migrated database that closes when the test ends.
func New(t testing.TB, dialect db.Dialect) *db.DB {
	t.Helper()
	return Open(t, URL(t, dialect))
}

// Open opens a database and closes it when the test ends.
func Open(t testing.TB, url string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), url)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

// URL returns the URL of a fresh, migrated database that is not open yet, for tests of whole
// programs. The database is removed when the test ends.
func URL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	if dialect == db.Postgres {
		return postgresURL(t, true)
	}
	url := EmptyURL(t, dialect)
	if err := copySQLite(t.Context(), url); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return url
}

// EmptyURL returns the URL of a database without a schema.
func EmptyURL(t testing.TB, dialect db.Dialect) string {
	t.Helper()
	if dialect == db.Postgres {
		return postgresURL(t, false)
	}
	return sqliteURL(filepath.Join(t.TempDir(), "kobo.db"))
}
