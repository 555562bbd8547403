package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/webhook"
)

func caseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "case",
		Short: "Decide cases, with two operators",
		Long: `List, show and resolve cases. A case needs two operators: the first proposes an outcome,
and the second approves it or proposes the same.

` + fourEyes,
	}
	add := commandsOf(c)
	var resolved bool
	var wanted operation.CaseFilter
	var f operation.Finding
	var note string
	list := add("list", "List the open cases, newest first", 0, func(c *cobra.Command, a *app.App, _ []string) error {
		wanted.State = operation.Open
		if resolved {
			wanted.State = operation.Resolved
		}
		return listCases(c, a, wanted)
	}).Flags()
	list.BoolVar(&resolved, "resolved", false, "list resolved cases instead")
	list.StringVar(&wanted.Company, "company", "", "only cases of this company")
	list.StringVar((*string)(&wanted.Reason), "reason", "", "only cases with this reason")
	list.StringVar(&wanted.Subject, "subject", "", "only cases about this operation, or this bank and session")
	add("show ID", "Show a case and its history", 1, showCase)
	resolve := add("resolve ID confirmed|rejected|assigned|booked|accepted|dismissed", "Propose an outcome, or agree with a proposal", 2,
		func(c *cobra.Command, a *app.App, args []string) error {
			f.Outcome = args[1]
			return decideCase(c, a, at(args[0], "resolve"), f, map[string]any{"note": note})
		})
	resolve.Long = `Propose an outcome. The same proposal by a second operator resolves the case.

confirmed  the provider executed the operation: the money moves on
rejected   the provider did not and never will execute the operation: the money goes back
assigned   the money belongs to a company (--company and --settlement): money of an unknown
           account, or a credit on the bank's statement whose session is in no ledger
booked     the bank's charges of a day are right: the amount of the case is booked
accepted   altered rows stay as they are: their settlement account is open to debits again
dismissed  no money moves`
	resolve.Flags().StringVar(&note, "note", "", "how you know (required)")
	approve := add("approve ID confirmed|rejected|assigned|booked|accepted|dismissed", "Approve the proposal of another operator", 2,
		func(c *cobra.Command, a *app.App, args []string) error {
			f.Outcome = args[1]
			return decideCase(c, a, at(args[0], "approve"), f, map[string]any{})
		})
	for _, one := range []*cobra.Command{resolve, approve} {
		one.Flags().StringVar(&f.Target, "company", "", "for assigned: the company that owns the money")
		one.Flags().Int64Var(&f.TargetID, "settlement", 0, "for assigned: the company's settlement account")
	}
	return c
}

// decideCase sends a finding about a case, and prints what the case says afterwards.
func decideCase(c *cobra.Command, a *app.App, path string, f operation.Finding, body map[string]any) error {
	body["outcome"] = f.Outcome
	if f.Target != "" {
		body["company"] = f.Target
	}
	if f.TargetID != 0 {
		body["settlementId"] = f.TargetID
	}
	var is admin.Case
	err := ask(c, a, http.MethodPost, "cases/"+path, body, &is)
	if is.Proposal != nil {
		return done(c, err, "proposed: %s, by %s; a second operator must say the same", is.Proposal.Outcome, is.Proposal.By)
	}
	return done(c, err, "resolved: %s, by %s and %s", textOf(is.Outcome), textOf(is.ProposedBy), textOf(is.ResolvedBy))
}

func listCases(c *cobra.Command, a *app.App, f operation.CaseFilter) error {
	if f.Reason != "" && !slices.Contains(operation.Reasons(), f.Reason) {
		return fault.Newf(fault.Invalid, "%s is no reason: %v", f.Reason, operation.Reasons())
	}
	return printAfter(c, "ID SINCE COMPANY REASON PROPOSED DETAIL", f, a.Operations.CasesAfter, func(is operation.Case) []any {
		return []any{is.ID, clock.Text(is.CreatedAt), is.Company, is.Reason, is.Outcome, is.Detail}
	})
}

func showCase(c *cobra.Command, a *app.App, args []string) error {
	is, err := a.Operations.FindCase(c.Context(), args[0])
	if err != nil {
		return err
	}
	steps, err := a.Reports.CaseTimeline(c.Context(), is)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s of company %s, %s: %s\nsubject %s\n", is.Reason, is.Company, strings.ToLower(string(is.State)), is.Detail, is.Subject)
	if is.Amount != 0 {
		fmt.Fprintf(out, "amount %s\n", is.Amount.Decimal())
	}
	if is.ProposedBy != "" {
		fmt.Fprintf(out, "%s says %s: %s\n", is.ProposedBy, is.Outcome, is.Note)
	}
	t := newTable(out, "")
	for _, s := range steps {
		t.row(clock.Text(s.At), s.What, s.Text)
	}
	return t.Flush()
}

func webhookCommand() *cobra.Command {
	c := &cobra.Command{Use: "webhook", Short: "Show the webhook endpoints of companies"}
	commandsOf(c)("list", "List the endpoints of all companies, newest first", 0, listEndpoints).
		Flags().Bool("failing", false, "only endpoints that have accepted nothing for three days")
	return c
}

func listEndpoints(c *cobra.Command, a *app.App, _ []string) error {
	state := webhook.State("")
	if flagOf(c, "failing") == "true" {
		state = webhook.Failing
	}
	type row struct {
		webhook.Endpoint
		webhook.Backlog
	}
	return printAll(c, "COMPANY ID STATE FAILURES BEHIND URL", state,
		func(ctx context.Context, state webhook.State, limit, offset int) (rows []row, total int64, err error) {
			list, total, err := a.Webhooks.All(ctx, state, limit, offset)
			for _, e := range list {
				b, unread := a.Webhooks.Backlog(ctx, e)
				rows, err = append(rows, row{e, b}), errors.Join(err, unread)
			}
			return rows, total, err
		},
		func(r row) []any { return []any{r.Company, r.ID, r.State, r.Failures, r.Behind, r.Address()} })
}
