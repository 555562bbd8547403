package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
)

func accessCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "door",
		Short: "Show, open or close API access",
		Long: `Show whether companies may use the API. While API access is closed, Kobo answers every
request of a company with 503, and /readyz shows it. Notifications of providers, the credit
poll, the resolver and the operators' API go on. A serving Kobo follows within a second.

If Kobo itself has closed API access, as after a restore, two operators open it.
` + fourEyes,
		Args: cobra.NoArgs,
	}
	l := configuredOrDev(c)
	l.writes = true
	keyed(c)
	c.RunE = withOperators(l, func(c *cobra.Command, o *operator.Service, _ []string) error {
		d, err := o.Access(c.Context())
		if d.Closed {
			err = done(c, err, "closed since %s: %s", clock.Text(d.Since), d.Reason)
		} else {
			err = done(c, err, "open")
		}
		if err != nil {
			return err
		}
		return showMoves(c, o)
	})
	c.AddCommand(&cobra.Command{
		Use: "close REASON", Short: "Close API access for all companies", Args: cobra.ExactArgs(1),
		RunE: withOperators(l, func(c *cobra.Command, o *operator.Service, args []string) error {
			return o.CloseAccess(c.Context(), local(), args[0])
		}),
	}, &cobra.Command{
		Use: "open", Short: "Open API access again", Args: cobra.NoArgs,
		RunE: openAccess(l),
	}, movesCommand(l))
	return c
}

func movesCommand(l *location) *cobra.Command {
	return &cobra.Command{
		Use: "moves [hold [REASON]|allow]", Short: "Show, hold or allow moves of purchases to further billers", Args: cobra.MaximumNArgs(2),
		Long: `Show, hold or allow the moves of purchases to further billers. Kobo itself holds them when a
database is restored. Allow them when no company will repeat an order from before the restore.`,
		ValidArgs: []string{"hold", "allow"},
		RunE: l.withDatabase(func(c *cobra.Command, d *db.DB, args []string) error {
			o, ctx := operator.New(d, nil, clock.System{}), c.Context()
			var act, reason string
			if len(args) > 0 {
				act = args[0]
			}
			if len(args) == 2 {
				reason = args[1]
			}
			var err error
			switch {
			case act == "hold":
				err = app.HoldMoves(ctx, d, o, local(), reason)
			case act == "allow" && len(args) == 1:
				err = d.Tx(ctx, func(q db.Querier) error { return o.HoldMoves(ctx, q, local(), false, "") })
			case act == "allow":
				err = usagef("allow takes no reason")
			case act != "":
				err = usagef("%q is neither hold nor allow", act)
			}
			if err != nil {
				return err
			}
			return showMoves(c, o)
		}),
	}
}

// showMoves prints whether the moves of purchases are held, and why.
func showMoves(c *cobra.Command, o *operator.Service) error {
	h, err := o.Moves(c.Context())
	switch {
	case !h.Held:
		return done(c, err, "moves of purchases are allowed")
	case h.Since.IsZero():
		return done(c, err, "moves of purchases are held; the audit log does not say since when")
	}
	said := fmt.Sprintf("moves of purchases are held since %s by %s", clock.Text(h.Since), h.By)
	if h.Reason != "" {
		said += ": " + h.Reason
	}
	return done(c, err, "%s", said)
}

// openAccess opens API access. Only if a second operator must approve, it opens the whole program,
// because the other settings may be wrong after a restore.
func openAccess(l *location) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := l.load()
		if err != nil {
			return err
		}
		var needsTwo bool
		direct := withOperators(l, func(c *cobra.Command, o *operator.Service, _ []string) error {
			d, err := o.Access(c.Context())
			if needsTwo = cfg.NeedsTwo() && d.Automatic; err != nil || needsTwo {
				return err
			}
			return o.OpenAccess(c.Context(), local().Seeing(d))
		})
		if err := direct(c, args); err != nil || !needsTwo {
			return err
		}
		return l.run(func(c *cobra.Command, a *app.App, _ []string) error {
			return send(c, a, "door", map[string]bool{"closed": false})
		})(c, args)
	}
}

func withOperators(l *location, do func(c *cobra.Command, o *operator.Service, args []string) error) func(*cobra.Command, []string) error {
	return l.withDatabase(func(c *cobra.Command, d *db.DB, args []string) error {
		return do(c, operator.New(d, nil, clock.System{}), args)
	})
}
