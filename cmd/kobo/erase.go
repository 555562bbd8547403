package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
)

func eraseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "erase",
		Short: "Complete the erasures of customers in the events",
		Long: `Remove erased customers from the events about them. Operators erase a customer with
POST /admin/v1/customers/{id}/erase, and kobo serve does the rest by itself if its database role
may change events. A role of kobo migrate --grant-serve may not. Then run this command from
time to time, for example each day.

The command works in short steps beside a serving Kobo. After an interruption, run it again.

Run it as the owner of the database (docs/privacy.md).`,
		Args: cobra.NoArgs,
	}
	c.RunE = configuredOrDev(c).run(func(c *cobra.Command, a *app.App, _ []string) error {
		n, err := a.Erasures.Finish(c.Context())
		fmt.Fprintf(c.OutOrStdout(), "%d erasures completed\n", n)
		return err
	})
	return c
}
