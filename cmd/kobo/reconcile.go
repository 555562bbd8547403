package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
)

func reconcileCommand() *cobra.Command {
	days := int(app.Reach / (24 * time.Hour))
	c := &cobra.Command{
		Use:   "reconcile",
		Short: "Reconcile bank statements with the ledger",
		Long: `Read the statement of each bank, and compare it with the operations, the credits and the
ledger. Each difference (a break) opens one case. The command prints each break with its case.
It does not judge operations without an outcome, or money that moved in the last half hour.

The command also lists earlier breaks whose cases are open, and operations whose money has
been in clearing for more than 72 hours. Each of them has a case. A serving Kobo reconciles
every day. The exit code is 1 if a break waits for a decision, or money is stuck.`,
		Args: cobra.NoArgs,
	}
	l := configuredOrDev(c)
	c.Flags().IntVar(&days, "days", days, "read the statements of so many days")
	run := l.run(func(c *cobra.Command, a *app.App, _ []string) error { return reconcile(c, a, days) })
	c.RunE = func(c *cobra.Command, args []string) error {
		if days < 1 {
			return usagef("--days must be at least 1")
		}
		return run(c, args)
	}
	return c
}

func reconcile(c *cobra.Command, a *app.App, days int) error {
	compared, failed := a.Reconcile(c.Context(), time.Duration(days)*24*time.Hour)
	for _, r := range compared {
		printBreaks(c.OutOrStdout(), r)
	}
	open, err := a.Operations.OpenBreaks(c.Context())
	failed = errors.Join(failed, err)
	printEarlier(c.OutOrStdout(), earlier(open, compared))
	old, err := a.Overdue(c.Context())
	if err := errors.Join(failed, err, printOverdue(c.OutOrStdout(), old)); err != nil {
		return err
	}
	if len(open)+len(old) > 0 {
		return fmt.Errorf("breaks to decide: %d; clearing accounts with money older than 72 hours: %d", len(open), len(old))
	}
	return nil
}

// earlier returns the open cases of breaks that earlier comparisons found and these comparisons did
// not find.
func earlier(open []operation.Case, compared []report.Reconciliation) []operation.Case {
	found := map[string]bool{}
	for _, r := range compared {
		for _, b := range r.Breaks {
			found[b.Case.ID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(open), func(c operation.Case) bool { return found[c.ID] })
}

func printEarlier(out io.Writer, cases []operation.Case) {
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(out, "breaks of earlier comparisons to decide: %d\n", len(cases))
	for _, c := range cases {
		fmt.Fprintf(out, "  %s  company %s  %s\n    bank less ledger %s: %s\n    case %s: %s\n",
			c.Reason, c.Company, c.Subject, c.Amount.Decimal(), c.Detail, c.ID, became(c))
	}
}

func printBreaks(out io.Writer, r report.Reconciliation) {
	fmt.Fprintf(out, "%s since %s: %d lines, %d operations, %d credits, %d breaks",
		r.Bank, clock.Text(r.From), r.Lines, r.Payments, r.Receipts, len(r.Breaks))
	if decided := len(r.Breaks) - r.Undecided(); decided > 0 {
		fmt.Fprintf(out, ", %d of them decided", decided)
	}
	fmt.Fprintln(out)
	for _, b := range r.Breaks {
		fmt.Fprintf(out, "  %s  company %s  %s\n    bank %s, ledger %s: %s\n    case %s: %s\n",
			b.Reason, b.Company, b.Subject, b.Bank.Decimal(), b.Book.Decimal(), b.Detail, b.Case.ID, became(b.Case))
	}
}

// became returns the state of a case as one line of text.
func became(c operation.Case) string {
	switch {
	case c.State == operation.Resolved:
		return fmt.Sprintf("%s by %s and %s on %s: %s", c.Outcome, c.ProposedBy, c.ResolvedBy, clock.Text(c.UpdatedAt), c.Note)
	case c.ProposedBy != "":
		return fmt.Sprintf("open since %s; %s proposes %s: %s", clock.Text(c.CreatedAt), c.ProposedBy, c.Outcome, c.Note)
	}
	return "open since " + clock.Text(c.CreatedAt)
}

// about returns a case about an operation as one line of text.
func about(c operation.Case) string {
	if c.ID == "" {
		return "no case could be opened"
	}
	return "case " + c.ID + ": " + became(c)
}

func printOverdue(out io.Writer, list []report.Overdue) error {
	t := newTable(out, "")
	for _, c := range list {
		fmt.Fprintf(t, "company %s, %s: %s for more than 72 hours\n", c.Company, c.Account, c.Amount.Decimal())
		for i, o := range c.Operations {
			t.row("  "+o.ID, (o.Amount + o.Fee).Decimal(), o.Provider, clock.Text(o.CreatedAt), about(c.Cases[i]))
		}
	}
	return t.Flush()
}
