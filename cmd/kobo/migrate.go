package main

import (
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/db"
)

func migrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database to this program's schema",
		Long: `Migrate the database to the schema that this program needs (docs/upgrading.md).

On PostgreSQL the command refuses while a connected Kobo could not run on the new schema,
and names the sessions. It waits for a table in use, five seconds at a time. It also refuses
a database of another environment (docs/operating/environments.md).

Run it as the owner of the database. --grant-serve and --grant-read give the rights to other
roles of PostgreSQL, which must exist (docs/operating/growth.md). Name the roles at every
migration, because new tables need rights too.

--finish comes after the upgrade of all programs. It ends the service of programs before
schema 202 and removes the indexes that only they use. From its next start on, each program
stores events in the shorter form, and gives new companies references of 10 characters
(docs/upgrading.md).`,
		Args: cobra.NoArgs,
	}
	force := c.Flags().Bool("force", false, "migrate beside programs that the new schema does not serve")
	finish := c.Flags().Bool("finish", false, "end the service of programs before schema 202, and store rows in the shorter form")
	var roles db.Roles
	c.Flags().StringVar(&roles.Serve, "grant-serve", "", "give `ROLE` the rights that kobo serve needs, and no others")
	c.Flags().StringVar(&roles.Read, "grant-read", "", "let `ROLE` read all columns without secrets and personal data")
	l := configured(c)
	l.mayBeMissing = true
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		if err := cfg.Migrate(c.Context(), *force); err != nil {
			return err
		}
		if *finish {
			if err := cfg.FinishMigration(c.Context()); err != nil {
				return err
			}
		}
		if roles != (db.Roles{}) {
			err = cfg.Grant(c.Context(), roles)
		}
		return done(c, err, "the schema is current")
	}
	return c
}
