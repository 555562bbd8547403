package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/kobo-waas/kobo/internal/db/migration"
)

// firstServing is the number of the migration that creates the table db_schema.
const firstServing = 33

// Migrate brings the schema to the version of this program. On PostgreSQL, programs that start
// together wait for each other. Migrate returns an error if a program that cannot run on the new
// schema is connected.
func (d *DB) Migrate(ctx context.Context) error { return d.migrate(ctx, false) }

// ForceMigrate does the same as Migrate, but does not check the connected programs.
func (d *DB) ForceMigrate(ctx context.Context) error { return d.migrate(ctx, true) }

func (d *DB) migrate(ctx context.Context, force bool) error {
	if err := d.migrateTables(ctx, force); err != nil {
		return err
	}
	if err := d.distribute(ctx); err != nil {
		return explain(fmt.Errorf("db: migrate: %w", err))
	}
	return nil
}

func (d *DB) migrateTables(ctx context.Context, force bool) error {
	return d.withProvider(ctx, true, func(p *goose.Provider, handle *sql.DB) error {
		have, want, err := p.GetVersions(ctx)
		if err == nil {
			err = d.whole(ctx, p, have)
		}
		if err != nil || have >= want {
			return err
		}
		serves := migration.Serves(have)
		if d.dialect == Postgres && have > 0 && !force {
			if err := d.unserved(ctx, serves); err != nil {
				return fmt.Errorf("%w (kobo migrate --force goes on beside them)", err)
			}
		}
		return d.lockTimeout().retry(ctx, func() error { return up(ctx, p, handle, have, serves) })
	})
}

// up applies the migrations. The column db_schema.serves contains the oldest schema whose programs
// can run on this schema. It is correct before and after each migration.
func up(ctx context.Context, p *goose.Provider, handle *sql.DB, have, serves int64) error {
	if have < firstServing {
		if _, err := p.UpTo(ctx, firstServing); err != nil {
			return err
		}
	}
	if _, err := handle.ExecContext(ctx, "UPDATE db_schema SET serves = $1 WHERE serves < $2", serves, serves); err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil || have > 0 {
		return err
	}
	return finish(ctx, handle) // no program of an earlier schema has seen a new database
}

// Migrated returns the version of the database's schema, and the version that this program needs.
// It returns an error if a migration below the schema's version was not applied.
func (d *DB) Migrated(ctx context.Context) (have, want int64, err error) {
	err = d.withProvider(ctx, false, func(p *goose.Provider, _ *sql.DB) error {
		if have, want, err = p.GetVersions(ctx); err != nil {
			return err
		}
		return d.whole(ctx, p, have)
	})
	return have, want, err
}

// whole returns an error if a migration up to the version have was not applied. A missing migration
// cannot be applied later. Later migrations have replaced tables, and the missing migration's SQL
// statements would damage the new tables.
func (d *DB) whole(ctx context.Context, p *goose.Provider, have int64) error {
	made, err := All(ctx, d, Value[int64], "SELECT version_id FROM goose_db_version WHERE is_applied")
	if err != nil {
		return err
	}
	for _, m := range p.ListSources() {
		if m.Version <= have && !slices.Contains(made, m.Version) {
			return fmt.Errorf("the database has schema %d without migration %d, and a missing migration cannot follow later ones: "+
				"begin a development database anew (kobo dev --fresh), or restore a backup from before schema %d", have, m.Version, m.Version)
		}
	}
	return nil
}

// withProvider calls the function use with the migrations and a handle to the database. If changes
// is true, the handle has separate connections with a timeout for locks.
func (d *DB) withProvider(ctx context.Context, changes bool, use func(*goose.Provider, *sql.DB) error) error {
	var handle *sql.DB
	var files fs.FS = migration.Files
	dialect := goose.DialectSQLite3
	options := []goose.ProviderOption{}
	switch e := d.engine.(type) {
	case *lite:
		handle, files = e.write, liteMigrations{migration.Files}
	case *postgres:
		handle = e.handle(ctx, changes)
		defer func() { _ = handle.Close() }()
		dialect = goose.DialectPostgres
		if changes {
			var err error
			if files, err = d.migrations(ctx); err != nil {
				return explain(fmt.Errorf("db: migrate: %w", err))
			}
		}
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("db: migrate: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, handle, files, options...)
	if err == nil {
		err = use(p, handle)
	}
	if err != nil {
		return explain(fmt.Errorf("db: migrate: %w", err))
	}
	return nil
}

// handle returns the pool for goose, or separate connections with a timeout for locks if limited is
// true.
func (p *postgres) handle(ctx context.Context, limited bool) *sql.DB {
	if !limited {
		return stdlib.OpenDBFromPool(p.in(laneOf(ctx)))
	}
	return stdlib.OpenDB(*p.pool.Config().ConnConfig.Copy(), stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, fmt.Sprintf("SET lock_timeout = %d; %s", p.locks.limit.Milliseconds(), endIdle(p.idle)))
		return err
	}))
}

// lockTimeout limits how long a migration waits for a lock. A waiting migration blocks all other
// users of the table, so each wait is short.
type lockTimeout struct {
	limit, pause time.Duration
	tries        int
}

var usualLockTimeout = lockTimeout{limit: 5 * time.Second, pause: 2 * time.Second, tries: 12}

func (d *DB) lockTimeout() lockTimeout {
	if e, ok := d.engine.(*postgres); ok {
		return e.locks
	}
	return usualLockTimeout
}

// retry calls do, and calls it again after a transient error, such as a lock timeout. During the
// pauses, other programs can work.
func (l lockTimeout) retry(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || Classify(err) != Transient {
			return err
		}
		if try == l.tries {
			return fmt.Errorf("a lock was not granted in %d tries of %s: end what holds a transaction open, and migrate again (%v)", l.tries, l.limit, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(l.pause):
		}
	}
}

// Empty removes the schema with all rows. It is for a development database that is created again.
func (d *DB) Empty(ctx context.Context) error {
	return d.withProvider(ctx, false, func(p *goose.Provider, _ *sql.DB) error {
		_, err := p.DownTo(ctx, 0)
		return err
	})
}
