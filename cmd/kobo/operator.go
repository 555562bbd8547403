package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
)

func operatorCommand() *cobra.Command {
	c := &cobra.Command{Use: "operator", Short: "Who may use the operators' API"}
	sub := verbsOf(c)
	sub("add NAME", "Give a person an admin key, printed once", 1, func(c *cobra.Command, a *app.App, args []string) error {
		_, key, err := a.Operators.IssueKey(c.Context(), local(), args[0])
		if err == nil {
			fmt.Fprintln(c.OutOrStdout(), key.Reveal())
		}
		return err
	})
	sub("remove NAME", "End a person's admin key", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Operators.RevokeKey(c.Context(), local(), args[0])
	})
	sub("list", "List the admin keys, the oldest first", 0, listOperators)
	return c
}

func listOperators(c *cobra.Command, a *app.App, _ []string) error {
	keys, err := a.Operators.Keys(c.Context())
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSINCE\tKEY ID")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Name, k.State, clock.Text(k.CreatedAt), k.ID)
	}
	return w.Flush()
}

func auditCommand() *cobra.Command {
	var company string
	var most int
	c := &cobra.Command{
		Use: "audit", Short: "Show what operators did, the newest first", Args: cobra.NoArgs,
	}
	b := named(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return b.opened(c.Context(), func(a *app.App) error { return showAudit(c, a, company, most) })
	}
	c.Flags().StringVar(&company, "company", "", "of this company alone")
	c.Flags().IntVar(&most, "lines", 50, "how many")
	return c
}

func showAudit(c *cobra.Command, a *app.App, company string, most int) error {
	if most < 1 {
		return usagef("--lines must be at least 1")
	}
	lines, total, err := a.Operators.Audit(c.Context(), company, most, 0)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "AT\tOPERATOR\tCOMPANY\tACTION\tSUBJECT\tDETAILS")
	for _, l := range lines {
		var details []string
		for name, value := range l.Details {
			if value != "" {
				details = append(details, fmt.Sprintf("%s=%q", name, value))
			}
		}
		slices.Sort(details)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", clock.Text(l.CreatedAt), l.Operator, l.Company, l.Action, l.Subject, strings.Join(details, " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if total > int64(len(lines)) {
		fmt.Fprintf(c.OutOrStdout(), "and %d earlier ones\n", total-int64(len(lines)))
	}
	return nil
}
