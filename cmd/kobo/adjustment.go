package main

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// fourEyes is the paragraph of a help text that explains as which operator a command acts.
const fourEyes = `A command that takes two operators acts as the operator of an admin key. It reads the key from
--admin-key-file or from the variable KOBO_ADMIN_KEY.`

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
		return decideAdjustment(c, a, at(args[0], "approve"), nil)
	})
	add("reject ID", "Reject an adjustment, or withdraw your own", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return decideAdjustment(c, a, at(args[0], "reject"), map[string]string{"note": flagOf(c, "note")})
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
	var is admin.Adjustment
	err = ask(c, a, http.MethodPost, at("companies", args[0], "adjustments"), map[string]any{
		"settlementId": settlementID, "direction": args[2], "amount": json.Number(amount.Decimal()), "reason": flagOf(c, "reason"),
	}, &is)
	return done(c, err, "%s", is.ID)
}

func decideAdjustment(c *cobra.Command, a *app.App, path string, body any) error {
	var is admin.Adjustment
	err := ask(c, a, http.MethodPost, "adjustments/"+path, body, &is)
	return done(c, err, "%s: %s of %s, asked for by %s, decided by %s",
		is.Status, is.Direction, is.Amount.Decimal(), is.CreatedBy, textOf(cmp.Or(is.ApprovedBy, is.RejectedBy)))
}

// textOf returns a text that may be null, and "" for null.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
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
	return printAfter(c, "ID SINCE COMPANY SETTLEMENT DIRECTION AMOUNT STATUS ASKED_BY DECIDED_BY REASON NOTE", state, a.Settlements.AdjustmentsAfter,
		func(is settlement.Adjustment) []any {
			return []any{
				is.ID, clock.Text(is.CreatedAt), is.Company, is.SettlementID, is.Direction, is.Amount.Decimal(), is.State,
				is.CreatedBy, is.DecidedBy, is.Reason, is.Note,
			}
		})
}
