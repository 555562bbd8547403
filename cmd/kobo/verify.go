package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/report"
)

func verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Re-add the whole book and say what does not add up",
		Long: `Re-add the book of every company from its entries: chains unbroken, no floor broken,
debits equal to credits, money in clearing equal to the open operations, events without
a gap. It only reads, and may run beside a serving Kobo. The exit code is 1 if anything
does not add up.

Without a configured database it looks at the one of kobo dev (--data).`,
		Args: cobra.NoArgs,
	}
	where := located(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		database, err := where()
		if err != nil {
			return err
		}
		return verify(c, database)
	}
	return c
}

// existing opens a database that must be there: SQLite would make one.
func existing(ctx context.Context, database string) (*db.DB, error) {
	if path, ok := db.SQLitePath(database); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("there is no book: %w", err)
		}
	}
	return db.Open(ctx, database)
}

// located adds the flags that name a database, and returns what finds it: the
// one that is named, the configured one, or that of kobo dev.
func located(c *cobra.Command) func() (string, error) {
	load := configured(c)
	data := c.PersistentFlags().String("data", ".kobo", "the folder of kobo dev")
	database := c.PersistentFlags().String("database", "", "another database: sqlite:PATH or postgres://…")
	return func() (string, error) {
		if *database != "" {
			return *database, nil
		}
		cfg, err := load()
		if err != nil {
			return "", err
		}
		if cfg.Database == "" || c.PersistentFlags().Changed("data") {
			return app.DevConfig(*data, "").Database, nil
		}
		return cfg.Database, nil
	}
}

func verify(c *cobra.Command, database string) error {
	ctx := c.Context()
	d, err := existing(ctx, database)
	if err != nil {
		return err
	}
	defer d.Close()
	r := report.New(d, clock.System{})
	companies, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	bar := progressbar.NewOptions(len(companies), progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetDescription("re-adding"), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	var entries, operations int64
	var wrongs []string
	for _, one := range companies {
		found, err := r.Integrity(ctx, one.Company)
		if err != nil {
			return err
		}
		entries += found.Entries
		operations += int64(found.InFlight.Operations)
		wrongs = append(wrongs, found.Wrongs...)
		_ = bar.Add(1) // a bar that cannot be drawn changes nothing
	}
	_ = bar.Finish()
	for _, w := range wrongs {
		fmt.Fprintln(c.OutOrStdout(), w)
	}
	if len(wrongs) > 0 {
		return errors.New("the book does not add up")
	}
	fmt.Fprintf(c.OutOrStdout(), "%d companies, %d entries, %d operations open: everything adds up\n", len(companies), entries, operations)
	return nil
}
