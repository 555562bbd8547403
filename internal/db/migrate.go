package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/kobo-waas/kobo/internal/db/migration"
)

// Migrate brings the schema to what this program needs. Programs that start
// together on PostgreSQL wait for one another.
func (d *DB) Migrate(ctx context.Context) error {
	return d.withProvider(func(p *goose.Provider, handle *sql.DB) error {
		have, _, err := p.GetVersions(ctx)
		if err == nil {
			err = whole(ctx, p, handle, have)
		}
		if err == nil {
			_, err = p.Up(ctx)
		}
		return err
	})
}

// Migrated tells the schema's version and the one this program needs. A schema
// that has a version without all those before it is an error.
func (d *DB) Migrated(ctx context.Context) (have, want int64, err error) {
	err = d.withProvider(func(p *goose.Provider, handle *sql.DB) error {
		if have, want, err = p.GetVersions(ctx); err != nil {
			return err
		}
		return whole(ctx, p, handle, have)
	})
	return have, want, err
}

// whole wants every migration up to a version to have been made. One that was
// left out is not made up for: later ones have made tables anew, and what it does
// to those is not what was meant.
func whole(ctx context.Context, p *goose.Provider, handle *sql.DB, have int64) error {
	rows, err := handle.QueryContext(ctx, "SELECT version_id FROM goose_db_version WHERE is_applied")
	if err != nil {
		return err
	}
	defer rows.Close()
	made := map[int64]bool{}
	for rows.Next() {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return err
		}
		made[version] = true
	}
	for _, m := range p.ListSources() {
		if m.Version <= have && !made[m.Version] {
			return fmt.Errorf("the database has schema %d without migration %d, and a migration is not made after later ones: "+
				"begin a development database anew (kobo dev --fresh), or restore a backup from before schema %d", have, m.Version, m.Version)
		}
	}
	return rows.Err()
}

func (d *DB) withProvider(use func(*goose.Provider, *sql.DB) error) error {
	var handle *sql.DB
	dialect := goose.DialectSQLite3
	options := []goose.ProviderOption{}
	switch e := d.engine.(type) {
	case *lite:
		handle = e.write
	case *postgres:
		handle = stdlib.OpenDBFromPool(e.pool)
		defer func() { _ = handle.Close() }()
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("db: migrate: %w", err)
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, handle, migration.Files, options...)
	if err == nil {
		err = use(p, handle)
	}
	if err != nil {
		return explain(fmt.Errorf("db: migrate: %w", err))
	}
	return nil
}

// Empty takes the schema away, and with it every row: for a development
// database that begins anew.
func (d *DB) Empty(ctx context.Context) error {
	return d.withProvider(func(p *goose.Provider, _ *sql.DB) error {
		_, err := p.DownTo(ctx, 0)
		return err
	})
}
