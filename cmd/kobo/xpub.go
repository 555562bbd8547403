package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
)

// setXpub has a company's addresses made from a key of its own. The first address
// is shown, to be compared with what the company's wallet shows.
func setXpub(c *cobra.Command, a *app.App, args []string) error {
	key, first, err := a.Crypto.SetKey(c.Context(), local(), args[0], chain.Kind(args[1]), args[2])
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "key            %s\nfirst address  %s\n", key.ID, first)
	}
	return err
}

func listXpubs(c *cobra.Command, a *app.App, args []string) error {
	keys, err := a.Crypto.Keys(c.Context(), args[0])
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tFROM\tSINCE\tXPUB")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.ID, k.Source, clock.Text(k.CreatedAt), k.Public)
	}
	return w.Flush()
}
