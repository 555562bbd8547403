package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/db"
)

// location is the choice of the database that a command works on. The flags override the
// configuration. All commands have the same flags for this choice.
type location struct {
	flags                  *pflag.FlagSet
	config, data, database string
	fallback               string // the folder that is used without flags and configuration; "" for none
	mayBeMissing           bool   // the command may create the database
	writes                 bool   // the command refuses a database of a different environment
}

// configured adds the flags of a location to a command. If neither the flags nor the configuration
// name a database, the command fails. An operator's command must not change the wrong database.
func configured(c *cobra.Command) *location {
	l := &location{flags: c.PersistentFlags()}
	l.flags.StringVar(&l.config, "config", "", configUsage)
	l.flags.StringVar(&l.data, "data", "", "use the folder `DIR` of kobo dev instead of the configuration")
	l.flags.StringVar(&l.database, "database", "",
		"use the database `URL` (sqlite:PATH or postgres://…) instead of the configured one; with --data, that of kobo dev --database")
	return l
}

// configUsage describes the flag that names the configuration file.
const configUsage = "read the configuration from `FILE` (YAML); variables KOBO_… are stronger"

// configuredOrDev adds the same flags as configured. If neither the flags nor the configuration
// name a database, the command uses the folder of kobo dev.
func configuredOrDev(c *cobra.Command) *location {
	l := configured(c)
	l.fallback = ".kobo"
	l.flags.Lookup("data").Usage += `; the default is .kobo if nothing is configured`
	return l
}

// load returns the configuration for a command that only needs the database. It checks only
// the settings of the database.
func (l *location) load() (app.Config, error) {
	cfg, err := l.read()
	if err := cfg.CheckDatabase(err); err != nil {
		return cfg, err
	}
	return cfg, l.mustExist(cfg)
}

// read reads the settings and checks the flags. The caller must check the settings.
func (l *location) read() (app.Config, error) {
	for _, name := range []string{"config", "data", "database"} {
		if f := l.flags.Lookup(name); f.Changed && f.Value.String() == "" {
			return app.Config{}, usagef("--%s is empty", name)
		}
	}
	if l.config != "" && l.data != "" {
		return app.Config{}, usagef("--config is of a kobo serve and --data of a kobo dev: name one of them")
	}
	return l.choose()
}

// mustExist fails if the SQLite file is missing, because SQLite would create an empty file.
func (l *location) mustExist(cfg app.Config) error {
	path, lite := db.SQLitePath(cfg.Database)
	if l.mayBeMissing || !lite {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no database: %w", err)
	}
	return nil
}

func (l *location) choose() (app.Config, error) {
	if l.data != "" {
		return l.dev(l.data)
	}
	cfg, wrong := app.Load(l.config)
	bare := cfg.Database == "" && cfg.MasterKey.Reveal() == "" && cfg.MasterKeyFile == ""
	if l.database != "" {
		cfg.Database = l.database
		if dev, err := l.dev(l.fallback); wrong == nil && bare && l.fallback != "" && err == nil {
			return dev, nil // the folder of kobo dev has the master key
		}
	}
	switch {
	case cfg.Database != "":
		return cfg, wrong
	case l.fallback != "":
		cfg, err := l.dev(l.fallback)
		return cfg, errors.Join(wrong, err)
	}
	return cfg, errors.Join(wrong, fmt.Errorf("%w; --database names one, and --data the folder of a kobo dev", app.ErrNoDatabase))
}

// dev returns the configuration of kobo dev for a folder. The folder holds the master key for
// every kind of database.
func (l *location) dev(folder string) (app.Config, error) {
	cfg := app.DevConfig(folder, l.database)
	if l.database == "" || l.mayBeMissing {
		return cfg, l.mustExist(cfg)
	}
	if _, err := os.Stat(filepath.Join(folder, "master.key")); err != nil {
		return cfg, fmt.Errorf("there is no database: %w", err)
	}
	return cfg, nil
}

// withDatabase returns a command function that opens only the database, and then runs do. So the
// command also works when the rest of the program cannot start.
func (l *location) withDatabase(do func(c *cobra.Command, d *db.DB, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		d, err := cfg.OpenDatabase(c.Context())
		if err != nil {
			return err
		}
		defer d.Close()
		if l.writes {
			if err := cfg.CheckEnvironment(c.Context(), d); err != nil {
				return err
			}
		}
		if signer, err := cfg.Evidence(); err == nil {
			d.SignWith(signer) // without it the command can read, and ledger.Sign refuses to write
		}
		return do(c, d, args)
	}
}

// action is the function that a command runs on the opened program.
type action func(c *cobra.Command, a *app.App, args []string) error

// adder is a function that adds a command. The new command runs an action.
type adder func(use, short string, args int, do action) *cobra.Command

// commandsOf returns a function that adds commands to parent. All these commands share the flags of
// one location, and the flag of the operator's key.
func commandsOf(parent *cobra.Command) adder {
	l := configured(parent)
	keyed(parent)
	return func(use, short string, args int, do action) *cobra.Command {
		one := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args), RunE: l.run(do)}
		parent.AddCommand(one)
		return one
	}
}

// open opens the program. The program logs to standard error.
func open(ctx context.Context, cfg app.Config) (*app.App, *slog.Logger, error) {
	log, err := app.NewLogger(os.Stderr, cfg.Log)
	if err != nil {
		return nil, nil, err
	}
	a, err := app.Open(ctx, cfg, log)
	return a, log, err
}

// run returns a command function that opens the program and runs an action. The program does
// not serve requests.
func (l *location) run(do action) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := l.read()
		if err := cfg.Check(err); err != nil {
			return err
		}
		if err := l.mustExist(cfg); err != nil {
			return err
		}
		a, _, err := open(c.Context(), cfg)
		if err != nil {
			return err
		}
		defer a.Close()
		return do(c, a, args)
	}
}
