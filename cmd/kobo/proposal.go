package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
)

func proposalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "proposal",
		Short: "Decide what takes two operators",
		Long: `Acts that can lead to money leaving wait for a second operator as a proposal, such as a new
API key. A proposal ends after 24 hours, and when what it rests on has changed.

` + fourEyes,
	}
	add := commandsOf(c)
	add("list", "List the proposals, newest first", 0, listProposals).
		Flags().String("status", string(operator.Proposed), "one of "+proposalStates()+"; PROPOSED also lists UNFINISHED")
	add("show ID", "Show a proposal with its acts", 1, func(c *cobra.Command, a *app.App, args []string) error {
		var data json.RawMessage
		if err := ask(c, a, http.MethodGet, at("proposals", args[0]), nil, &data); err != nil {
			return err
		}
		return printJSON(c, data)
	})
	add("create FILE", "Propose the acts in a JSON file; - is standard input", 1, createProposal).
		Long = `Propose several acts of one company. The file is the body of POST /admin/v1/proposals:

  {"company": "REFERENCE", "acts": [
    {"operation": "moveKYB", "body": {"status": "APPROVED"}},
    {"operation": "setLive", "body": {"live": true}}]}`
	add("approve ID", "Approve the proposal of another operator, and do its acts", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return send(c, a, at("proposals", args[0], "approve"), nil)
	})
	add("reject ID", "Reject the proposal of another operator", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return send(c, a, at("proposals", args[0], "reject"), map[string]string{"note": flagOf(c, "note")})
	}).Flags().String("note", "", "the reason")
	add("withdraw ID", "Withdraw your own proposal", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return send(c, a, at("proposals", args[0], "withdraw"), nil)
	})
	add("renew-token ID OPERATION", "Make again a lost token that your approval has made; OPERATION is issueKey or resetPIN", 2,
		func(c *cobra.Command, a *app.App, args []string) error {
			return send(c, a, at("proposals", args[0], "renew-token"), map[string]string{"operation": args[1]})
		})
	return c
}

func listProposals(c *cobra.Command, a *app.App, _ []string) error {
	status := operator.ProposalState(flagOf(c, "status"))
	switch {
	case status == "all":
		status = ""
	case !slices.Contains(operator.ProposalStates(), status):
		return usagef("--status must be one of %s", proposalStates())
	}
	return printAfter(c, "ID SINCE COMPANY STATUS PROPOSED_BY DECIDED_BY EXPIRES ACTS", status, a.Operators.ProposalsAfter, func(p operator.Proposal) []any {
		return []any{p.ID, clock.Text(p.CreatedAt), p.Company, p.State, p.ProposedBy, p.DecidedBy, clock.Text(p.ExpiresAt), p.Names()}
	})
}

// proposalStates returns the values of --status as text.
func proposalStates() string {
	text := ""
	for _, s := range operator.ProposalStates() {
		text += string(s) + ", "
	}
	return text + "all"
}

func createProposal(c *cobra.Command, a *app.App, args []string) error {
	in := c.InOrStdin()
	if args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if !json.Valid(text) {
		return fmt.Errorf("%s holds no JSON", strings.TrimPrefix(args[0], "-"))
	}
	return send(c, a, "proposals", json.RawMessage(text))
}
