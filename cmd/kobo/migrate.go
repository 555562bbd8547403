package main

import (
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
	b := named(c)
	b.makes = true
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := b.settings()
		if err != nil {
			return err
		}
		if err := app.Migrate(c.Context(), cfg.Database); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "the schema is current")
		return nil
	}
	return c
}
