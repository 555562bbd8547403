package main

import (
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database to this program's schema",
		Long: `Migrate the database to the schema that this program needs (docs/upgrading.md).

On PostgreSQL the command refuses while a connected Kobo could not run on the new schema,
and names the sessions. It waits for a table in use, five seconds at a time.`,
		Args: cobra.NoArgs,
	}
	force := c.Flags().Bool("force", false, "migrate beside programs that the new schema does not serve")
	l := configured(c)
	l.mayBeMissing = true
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		return done(c, app.Migrate(c.Context(), cfg.Database, *force), "the schema is current")
	}
	return c
}
