package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema to what this program needs",
		Args:  cobra.NoArgs,
	}
	load := configured(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		if cfg.Database == "" {
			return errors.New("configuration: database is not set (sqlite:PATH or postgres://…)")
		}
		if err := app.Migrate(c.Context(), cfg.Database); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "the schema is current")
		return nil
	}
	return c
}
