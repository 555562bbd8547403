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
	return d.withProvider(func(p *goose.Provider) error {
		_, err := p.Up(ctx)
		return err
	})
}

// Migrated tells the schema's version and the one this program needs.
func (d *DB) Migrated(ctx context.Context) (have, want int64, err error) {
	err = d.withProvider(func(p *goose.Provider) error {
		have, want, err = p.GetVersions(ctx)
		return err
	})
	return have, want, err
}

func (d *DB) withProvider(use func(*goose.Provider) error) error {
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
		err = use(p)
	}
	if err != nil {
		return explain(fmt.Errorf("db: migrate: %w", err))
	}
	return nil
}

// Empty takes the schema away, and with it every row: for a development
// database that begins anew.
func (d *DB) Empty(ctx context.Context) error {
	return d.withProvider(func(p *goose.Provider) error {
		_, err := p.DownTo(ctx, 0)
		return err
	})
}
