package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
)

func doorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "door",
		Short: "Tell whether companies are let in, and close or open their door",
		Long: `While the companies' door is closed every request of a company is answered 503 and
/readyz says so; notifications of providers, the sweep, the resolver, and the operators' door
go on. A serving Kobo notices within a second.`,
		Args: cobra.NoArgs,
	}
	b := located(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return door(c, b, func(o *operator.Service) error {
			d, err := o.Door(c.Context())
			switch {
			case err != nil:
				return err
			case d.Closed:
				fmt.Fprintf(c.OutOrStdout(), "closed since %s: %s\n", clock.Text(d.Since), d.Reason)
			default:
				fmt.Fprintln(c.OutOrStdout(), "open")
			}
			return nil
		})
	}
	c.AddCommand(&cobra.Command{
		Use: "close REASON", Short: "Let no company in", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return door(c, b, func(o *operator.Service) error { return o.CloseDoor(c.Context(), local(), args[0]) })
		},
	}, &cobra.Command{
		Use: "open", Short: "Let companies in again", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return door(c, b, func(o *operator.Service) error { return o.OpenDoor(c.Context(), local()) })
		},
	})
	return c
}

func door(c *cobra.Command, b *book, do func(o *operator.Service) error) error {
	d, err := b.open(c.Context())
	if err != nil {
		return err
	}
	defer d.Close()
	return do(operator.New(d, nil, clock.System{}))
}
