package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/keyring"
)

func rekeyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rekey",
		Short: "Seal all stored values again with the current master key",
		Long: `Seal BVNs, webhook secrets, notifications and stored responses again with the current
master key, and rewrite the blind indexes. Kobo may serve meanwhile: each row is one short
statement, and a row that a request changes at that moment is left for the next run. An
interrupted rekey continues where it stopped.

Hashes of API keys, PINs and operators' keys are renewed at their next use. The command
prints what is left of each older line. With --revoke-after Kobo revokes the rest after
that date. A week before, each company that is concerned gets the event
company.renewal_due.`,
		Args: cobra.NoArgs,
	}
	c.RunE = configured(c).run(rekey)
	c.Flags().String("revoke-after", "", "revoke on this `DATE`, such as 2030-12-31 (Lagos), all that is not renewed by then; never: cancel")
	return c
}

// planRevocation sets the date of the flag --revoke-after.
func planRevocation(c *cobra.Command, a *app.App) error {
	text := flagOf(c, "revoke-after")
	if text == "" {
		return nil
	}
	var at time.Time
	if text != "never" {
		day, err := time.ParseInLocation(time.DateOnly, text, clock.Lagos)
		if err != nil {
			return usagef("--revoke-after is a date such as 2030-12-31, or never")
		}
		at = day.AddDate(0, 0, 1) // the date is the last day of the older keys
	}
	if err := a.Keyring.PlanRevocation(c.Context(), at); err != nil {
		return err
	}
	return a.Operators.Record(c.Context(), local(), "key.revoke_after", "", map[string]string{"date": text})
}

func rekey(c *cobra.Command, a *app.App, _ []string) error {
	if err := planRevocation(c, a); err != nil {
		return err
	}
	var bar *progressbar.ProgressBar
	var last keyring.Progress
	var sealed, broken, changed int64
	left, err := a.Keyring.Rekey(c.Context(), func(p keyring.Progress) {
		if p.Table != last.Table {
			bar = progressbar.NewOptions64(p.Rows, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetVisibility(isTerminal(os.Stderr)),
				progressbar.OptionSetDescription(p.Table), progressbar.OptionShowCount(),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
			last = keyring.Progress{Table: p.Table}
		}
		_ = bar.Set64(p.Read) // if the progress bar cannot be drawn, the rekey goes on
		sealed, broken, changed = sealed+p.Sealed-last.Sealed, broken+p.Broken-last.Broken, changed+p.Changed-last.Changed
		last = p
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%d rows sealed again\n", sealed)
	if err := printList(c, "LINE DEPENDENT COUNT ENDS", left, nil, func(d keyring.Dependent) []any { return []any{d.Line, d.Name, d.Count, d.Ends} }); err != nil {
		return err
	}
	if broken+changed > 0 {
		return fmt.Errorf("%d rows do not open (the log names them), and requests changed %d rows meanwhile: run kobo rekey again", broken, changed)
	}
	return nil
}
