package main

import (
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// fourEyes is the paragraph of a help text that explains which operator a command acts as.
const fourEyes = `The operator of a command is local:<user name>. An admin key of that name belongs to
the same person.`

func adjustmentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "adjustment",
		Short: "Correct balances, with two operators",
		Long: `Correct the balance of a settlement account. One operator requests an adjustment. No money
moves before another operator approves the request. Either operator may reject it.

` + fourEyes,
	}
	add := commandsOf(c)
	add("list", "List adjustments, newest first", 0, listAdjustments).
		Flags().String("status", string(settlement.Pending), "PENDING, APPROVED, REJECTED, or all")
	add("create REFERENCE SETTLEMENT-ID credit|debit AMOUNT", "Request an adjustment; the amount is in naira", 4, createAdjustment).
		Flags().String("reason", "", "the reason (required)")
	add("approve ID", "Approve the adjustment of another operator", 1, func(c *cobra.Command, a *app.App, args []string) error {
		is, err := a.Settlements.Approve(c.Context(), local(), args[0])
		return printDecision(c, is, err)
	})
	add("reject ID", "Reject an adjustment, or withdraw your own", 1, func(c *cobra.Command, a *app.App, args []string) error {
		is, err := a.Settlements.Reject(c.Context(), local(), args[0], flagOf(c, "note"))
		return printDecision(c, is, err)
	}).Flags().String("note", "", "the reason (required)")
	return c
}

func createAdjustment(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	amount, err := nairaIn(args[3])
	if err != nil {
		return err
	}
	is, err := a.Settlements.Adjust(c.Context(), local(), settlement.Adjustment{
		Company: args[0], SettlementID: settlementID, Direction: settlement.Direction(args[2]), Amount: amount, Reason: flagOf(c, "reason"),
	})
	return done(c, err, "%s", is.ID)
}

func printDecision(c *cobra.Command, is settlement.Adjustment, err error) error {
	return done(c, err, "%s: %s of %s, asked for by %s, decided by %s",
		is.State, is.Direction, is.Amount.Decimal(), is.CreatedBy, is.DecidedBy)
}

func listAdjustments(c *cobra.Command, a *app.App, _ []string) error {
	state := settlement.AdjustmentState(flagOf(c, "status"))
	switch state {
	case settlement.Pending, settlement.Approved, settlement.Rejected:
	case "all":
		state = ""
	default:
		return usagef("--status must be one of PENDING, APPROVED, REJECTED, all")
	}
	return printAll(c, "ID SINCE COMPANY SETTLEMENT DIRECTION AMOUNT STATUS ASKED_BY DECIDED_BY REASON NOTE", state, a.Settlements.Adjustments,
		func(is settlement.Adjustment) []any {
			return []any{
				is.ID, clock.Text(is.CreatedAt), is.Company, is.SettlementID, is.Direction, is.Amount.Decimal(), is.State,
				is.CreatedBy, is.DecidedBy, is.Reason, is.Note,
			}
		})
}
