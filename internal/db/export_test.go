package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"
)

// Alone lets a test keep everybody out of a SQLite file.
var Alone = alone

// ReplanAtOnce has a database keep no plans of batches.
func ReplanAtOnce(d *DB) { d.engine.(*postgres).replan = 0 }

// Unanswered is how many COMMITs have no answer yet, and how many there may be.
func Unanswered(d *DB) (now, most int64) {
	p := d.engine.(*postgres)
	return p.unanswered.Load(), p.most
}

// Fill has as many COMMITs without an answer as there may be, until it is emptied.
func Fill(d *DB) (empty func()) {
	p := d.engine.(*postgres)
	p.unanswered.Add(p.most)
	return func() { p.unanswered.Add(-p.most) }
}

// AskSoon has a database ask often for the connections that it has left.
func AskSoon(d *DB) { d.engine.(*postgres).question = 50 * time.Millisecond }

// MigrateTo makes the migrations up to a version.
func MigrateTo(ctx context.Context, d *DB, version int64) error {
	return d.withProvider(true, func(p *goose.Provider, _ *sql.DB) error {
		_, err := p.UpTo(ctx, version)
		return err
	})
}

// Impatient has a migration wait for a lock so long and so often.
func Impatient(d *DB, limit time.Duration, tries int) {
	d.engine.(*postgres).waits = patience{limit: limit, pause: time.Millisecond, tries: tries}
}
