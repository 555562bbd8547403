package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/webhook"
)

func caseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "case",
		Short: "What only a human can decide",
		Long: `List, inspect and resolve cases. It takes two operators to resolve one: the first
proposes, and a second says the same or approves. Who runs the command is the
operator local:<user name>; who has an admin key by that name is the same person.`,
	}
	sub := verbsOf(c)
	var resolved bool
	var wanted operation.CaseFilter
	var f operation.Finding
	var note string
	list := sub("list", "List the open cases, newest first", 0, func(c *cobra.Command, a *app.App, _ []string) error {
		wanted.State = operation.Open
		if resolved {
			wanted.State = operation.Resolved
		}
		return listCases(c, a, wanted)
	})
	list.Flags().BoolVar(&resolved, "resolved", false, "list the resolved ones instead")
	list.Flags().StringVar(&wanted.Company, "company", "", "only those of a company")
	list.Flags().StringVar((*string)(&wanted.Reason), "reason", "", "only those of a reason")
	list.Flags().StringVar(&wanted.Subject, "subject", "", "only those about an operation, or a bank and its session")
	sub("show ID", "Show a case and everything known around it", 1, showCase)
	resolve := sub("resolve ID confirmed|rejected|assigned|booked|dismissed", "Propose what became of it, or agree with the proposal", 2,
		func(c *cobra.Command, a *app.App, args []string) error {
			f.Outcome = args[1]
			done, err := a.Operations.ResolveCase(c.Context(), args[0], f, note, local().Name, local().Note)
			return saidOf(c, done, err)
		})
	resolve.Long = `The first operator's finding is a proposal; a second one who says the same makes it true.

confirmed  the provider did it: the money moves on
rejected   the provider did not, and never will: the money goes back
assigned   money of an unknown account, or a credit that is on the bank's statement and in no
           book under its session, is a company's (--company and --settlement)
booked     the bank is right about what it charged on a day: the case's amount is booked
dismissed  nothing is to be moved`
	resolve.Flags().StringVar(&note, "note", "", "how you know (required)")
	approve := sub("approve ID confirmed|rejected|assigned|booked|dismissed", "Agree with the proposal of another operator", 2,
		func(c *cobra.Command, a *app.App, args []string) error {
			f.Outcome = args[1]
			done, err := a.Operations.ApproveCase(c.Context(), args[0], f, local().Name, local().Note)
			return saidOf(c, done, err)
		})
	for _, one := range []*cobra.Command{resolve, approve} {
		one.Flags().StringVar(&f.Target, "company", "", "assigned: whose the money is")
		one.Flags().Int64Var(&f.TargetID, "settlement", 0, "assigned: its settlement account")
	}
	return c
}

func saidOf(c *cobra.Command, done operation.Case, err error) error {
	switch {
	case err != nil:
		return err
	case done.State == operation.Resolved:
		fmt.Fprintf(c.OutOrStdout(), "resolved: %s, by %s and %s\n", done.Outcome, done.ProposedBy, done.ResolvedBy)
	default:
		fmt.Fprintf(c.OutOrStdout(), "proposed: %s, by %s; a second operator must say the same\n", done.Outcome, done.ProposedBy)
	}
	return nil
}

func listCases(c *cobra.Command, a *app.App, f operation.CaseFilter) error {
	if f.Reason != "" && !slices.Contains(operation.Reasons(), f.Reason) {
		return fault.Newf(fault.Invalid, "%s is no reason: %v", f.Reason, operation.Reasons())
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSINCE\tCOMPANY\tREASON\tPROPOSED\tDETAIL")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Operations.Cases(c.Context(), f, limit, offset)
		for _, one := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, clock.Text(one.CreatedAt), one.Company, one.Reason, one.Outcome, one.Detail)
		}
		return len(list), err
	})
}

func showCase(c *cobra.Command, a *app.App, args []string) error {
	one, err := a.Operations.FindCase(c.Context(), args[0])
	if err != nil {
		return err
	}
	steps, err := a.Reports.Timeline(c.Context(), one)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s of company %s, %s: %s\nsubject %s\n", one.Reason, one.Company, strings.ToLower(string(one.State)), one.Detail, one.Subject)
	if one.Amount != 0 {
		fmt.Fprintf(out, "amount %s\n", one.Amount.Decimal())
	}
	if one.ProposedBy != "" {
		fmt.Fprintf(out, "%s says %s: %s\n", one.ProposedBy, one.Outcome, one.Note)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, s := range steps {
		fmt.Fprintf(w, "%s\t%s\t%s\n", clock.Text(s.At), s.What, s.Text)
	}
	return w.Flush()
}

func webhookCommand() *cobra.Command {
	c := &cobra.Command{Use: "webhook", Short: "Where companies want their events sent"}
	b := named(c)
	var failing bool
	list := &cobra.Command{
		Use: "list", Short: "List the endpoints of all companies, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return b.opened(c.Context(), func(a *app.App) error { return listEndpoints(c, a, failing) })
		},
	}
	list.Flags().BoolVar(&failing, "failing", false, "only those that have taken nothing for three days")
	c.AddCommand(list)
	return c
}

func listEndpoints(c *cobra.Command, a *app.App, failing bool) error {
	state := webhook.State("")
	if failing {
		state = webhook.Failing
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "COMPANY\tID\tSTATE\tFAILURES\tBEHIND\tURL")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Webhooks.All(c.Context(), state, limit, offset)
		for _, e := range list {
			b, err := a.Webhooks.Backlog(c.Context(), e)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", e.Company, e.ID, e.State, e.Failures, b.Behind, e.Address())
		}
		return len(list), err
	})
}
