package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
)

// Alone gives a test exclusive access to a SQLite file.
var Alone = alone

// ReplanAtOnce makes a database discard the query plans of batches immediately.
func ReplanAtOnce(d *DB) { d.engine.(*postgres).replan = 0 }

// Unanswered returns the number of COMMITs without a reply, and its limit.
func Unanswered(d *DB) (now, most int64) {
	p := d.engine.(*postgres)
	return p.unanswered.Load(), p.most
}

// Fill raises the number of COMMITs without a reply to its limit. Calling empty lowers the number
// again.
func Fill(d *DB) (empty func()) {
	p := d.engine.(*postgres)
	p.unanswered.Add(p.most)
	return func() { p.unanswered.Add(-p.most) }
}

// EndIdle sets how long the server waits for this program in the middle of a transaction. The database must be unused.
func EndIdle(d *DB, limit time.Duration) { d.engine.(*postgres).idle = limit }

// AskSoon makes a database check often whether the server still has the lost connections.
func AskSoon(d *DB) { d.engine.(*postgres).question = 50 * time.Millisecond }

// MigrateTo applies the migrations up to a version.
func MigrateTo(ctx context.Context, d *DB, version int64) error {
	return d.withProvider(ctx, true, func(p *goose.Provider, _ *sql.DB) error {
		_, err := p.UpTo(ctx, version)
		return err
	})
}

// Impatient sets how long a migration waits for a lock, and how often it tries.
func Impatient(d *DB, limit time.Duration, tries int) {
	d.engine.(*postgres).locks = lockTimeout{limit: limit, pause: time.Millisecond, tries: tries}
}

// Waiting returns the number of heavy reads that wait for their turn.
func Waiting(d *DB) (n int) {
	d.turns.mu.Lock()
	defer d.turns.mu.Unlock()
	for _, of := range d.turns.waiting {
		n += len(of)
	}
	return n
}

// PageQueries returns the SQL statements of the first and the second page of EachPage.
func PageQueries(t *Table) (queries []string) {
	stop := errors.New("stop")
	_ = eachPage(t, "c1", func(query string, _ []any) ([][]any, error) {
		if queries = append(queries, query); len(queries) == 2 {
			return nil, stop
		}
		return slices.Repeat([][]any{make([]any, len(t.Columns))}, eachRowPage), nil
	}, func([][]any) error { return nil })
	return queries
}

// MigrateDivided applies the migrations in files as those of a database that divides its tables.
func MigrateDivided(ctx context.Context, d *DB, files fs.FS) error {
	handle := d.engine.(*postgres).handle(ctx, true)
	defer func() { _ = handle.Close() }() // ignored, because each migration has committed
	p, err := goose.NewProvider(goose.DialectPostgres, handle, dividedMigrations{files})
	if err == nil {
		_, err = p.Up(ctx)
	}
	return err
}

// LookAtNodes reads the map of the nodes now.
func LookAtNodes(d *DB) { d.engine.(*postgres).lookOnce() }

// HashOf is PostgreSQL's hash of a text.
var HashOf = hashOf
