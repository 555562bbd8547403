package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func adjustmentCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "adjustment",
		Short: "Correct balances, by two operators",
		Long: `Correct the balance of a settlement account by hand. One operator asks, and nothing moves
until another approves. Either may reject it; who asked takes it back so. Who runs the command
is the operator local:<user name>; who has an admin key by that name is the same person.`,
	}
	sub := verbsOf(c)
	sub("list", "List the adjustments that wait, newest first", 0, listAdjustments).
		Flags().String("status", string(settlement.Pending), "PENDING, APPROVED, REJECTED, or all")
	create := sub("create REFERENCE SETTLEMENT-ID credit|debit AMOUNT", "Ask for one; the amount is naira", 4, createAdjustment)
	create.Flags().String("reason", "", "why (required)")
	sub("approve ID", "Make the adjustment of another operator happen", 1, func(c *cobra.Command, a *app.App, args []string) error {
		done, err := a.Settlements.Approve(c.Context(), local(), args[0])
		return decidedOn(c, done, err)
	})
	sub("reject ID", "Turn an adjustment down, or take one's own back", 1, func(c *cobra.Command, a *app.App, args []string) error {
		done, err := a.Settlements.Reject(c.Context(), local(), args[0], flagOf(c, "note"))
		return decidedOn(c, done, err)
	}).Flags().String("note", "", "why (required)")
	return c
}

func createAdjustment(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	amount, err := money.Parse(args[3])
	if err != nil {
		return usagef("%q %w", args[3], err)
	}
	asked, err := a.Settlements.Adjust(c.Context(), local(), settlement.Adjustment{
		Company: args[0], SettlementID: settlementID, Direction: settlement.Direction(args[2]), Amount: amount, Reason: flagOf(c, "reason"),
	})
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), asked.ID)
	}
	return err
}

func decidedOn(c *cobra.Command, done settlement.Adjustment, err error) error {
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "%s: %s of %s, asked for by %s, decided by %s\n", done.State, done.Direction, done.Amount.Decimal(), done.CreatedBy, done.DecidedBy)
	}
	return err
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
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSINCE\tCOMPANY\tSETTLEMENT\tDIRECTION\tAMOUNT\tSTATUS\tASKED BY\tDECIDED BY\tREASON\tNOTE")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Settlements.Adjustments(c.Context(), state, limit, offset)
		for _, one := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, clock.Text(one.CreatedAt), one.Company, one.SettlementID,
				one.Direction, one.Amount.Decimal(), one.State, one.CreatedBy, one.DecidedBy, one.Reason, one.Note)
		}
		return len(list), err
	})
}
