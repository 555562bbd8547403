package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/db"
)

// book is how a command finds the book it works on. All of them have the same
// flags: what these name counts, and otherwise what is configured.
type book struct {
	flags                  *pflag.FlagSet
	config, data, database string
	usual                  string // the folder that is looked into when nothing is named or configured; "" for none
	makes                  bool   // the book need not be there yet
}

// named adds the flags. A command that does something in an operator's name finds
// no book unless it is named or configured: a forgotten configuration would find
// one to write in.
func named(c *cobra.Command) *book {
	b := &book{flags: c.PersistentFlags()}
	b.flags.StringVar(&b.config, "config", "", "configuration `FILE` (YAML); KOBO_… in the environment is stronger")
	b.flags.StringVar(&b.data, "data", "", "the folder `DIR` of a kobo dev, instead of what is configured")
	b.flags.StringVar(&b.database, "database", "", "another database than the configured one: `URL` is sqlite:PATH or postgres://…; with --data that of kobo dev --database")
	return b
}

// located is named for the machine's own commands: without a name and without a
// configured database the book is that of a kobo dev in this folder.
func located(c *cobra.Command) *book {
	b := named(c)
	b.usual = ".kobo"
	b.flags.Lookup("data").Usage += `; .kobo when nothing is named or configured`
	return b
}

// settings are those of the program whose book it is. The book is there, unless the
// command makes one.
func (b *book) settings() (app.Config, error) {
	cfg, err := b.read()
	if err := cfg.CheckDatabase(err); err != nil {
		return cfg, err
	}
	return cfg, b.there(cfg)
}

// read are the settings alone.
func (b *book) read() (app.Config, error) {
	for _, name := range []string{"config", "data", "database"} {
		if f := b.flags.Lookup(name); f.Changed && f.Value.String() == "" {
			return app.Config{}, usagef("--%s is empty", name)
		}
	}
	if b.config != "" && b.data != "" {
		return app.Config{}, usagef("--config is of a kobo serve and --data of a kobo dev: name one of them")
	}
	return b.chosen()
}

// there looks for a SQLite file, since SQLite would make one.
func (b *book) there(cfg app.Config) error {
	path, lite := db.SQLitePath(cfg.Database)
	if b.makes || !lite {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no book: %w", err)
	}
	return nil
}

func (b *book) chosen() (app.Config, error) {
	if b.data != "" {
		return b.dev(b.data)
	}
	cfg, wrong := app.Load(b.config)
	bare := cfg.Database == "" && cfg.MasterKey.Reveal() == "" && cfg.MasterKeyFile == ""
	if b.database != "" {
		cfg.Database = b.database
		if dev, err := b.dev(b.usual); wrong == nil && bare && b.usual != "" && err == nil {
			return dev, nil // the key is kobo dev's
		}
	}
	switch {
	case cfg.Database != "":
		return cfg, wrong
	case b.usual != "":
		cfg, err := b.dev(b.usual)
		return cfg, errors.Join(wrong, err)
	}
	return cfg, errors.Join(wrong, fmt.Errorf("%w; --database names one, and --data the folder of a kobo dev", app.ErrNoDatabase))
}

// dev is the book of a kobo dev. The key is made with the folder, whatever the
// database is.
func (b *book) dev(folder string) (app.Config, error) {
	cfg := app.DevConfig(folder, b.database)
	if b.database == "" || b.makes {
		return cfg, b.there(cfg)
	}
	if _, err := os.Stat(filepath.Join(folder, "master.key")); err != nil {
		return cfg, fmt.Errorf("there is no book: %w", err)
	}
	return cfg, nil
}

// open opens the database alone, for what asks no business.
func (b *book) open(ctx context.Context) (*db.DB, error) {
	cfg, err := b.settings()
	if err != nil {
		return nil, err
	}
	return db.Open(ctx, cfg.Database)
}

// opened runs do with a program that is built but not serving.
func (b *book) opened(ctx context.Context, do func(a *app.App) error) error {
	cfg, err := b.read()
	if err := cfg.Check(err); err != nil {
		return err
	}
	if err := b.there(cfg); err != nil {
		return err
	}
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}
