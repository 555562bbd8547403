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
		Long: `Bring the database's schema to what this program needs (docs/upgrading.md).

On PostgreSQL it refuses while a connected Kobo would not run on the new schema, and
names the sessions. A table that is in use is waited for in tries of five seconds.`,
		Args: cobra.NoArgs,
	}
	force := c.Flags().Bool("force", false, "migrate beside programs that the new schema does not serve")
	b := named(c)
	b.makes = true
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := b.settings()
		if err != nil {
			return err
		}
		if err := app.Migrate(c.Context(), cfg.Database, *force); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), "the schema is current")
		return nil
	}
	return c
}
