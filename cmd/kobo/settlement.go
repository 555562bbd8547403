package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// settlementVerbs are what kobo company does with settlement accounts.
func settlementVerbs(sub verb) {
	sub("settlement REFERENCE NAME", "Open a settlement account", 2, openSettlement)
	sub("settlement-status REFERENCE SETTLEMENT-ID ACTIVE|INACTIVE", "Switch a settlement account on or off", 3, setSettlementStatus).
		Flags().String("reason", "", "why, for the audit log")
	sub("settlement-alert REFERENCE SETTLEMENT-ID AMOUNT|never", "Say below which balance (naira) the company is told", 3, setSettlementAlert)
}

func openSettlement(c *cobra.Command, a *app.App, args []string) error {
	account, err := a.Settlements.Create(c.Context(), local(), args[0], args[1])
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), account.ID)
	}
	return err
}

func setSettlementStatus(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	account, err := a.Settlements.SetStatus(c.Context(), local(), args[0], settlementID, settlement.Status(args[2]), flagOf(c, "reason"))
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), account.Status)
	}
	return err
}

// setSettlementAlert says below which balance the company is told.
func setSettlementAlert(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	var below money.Kobo
	if args[2] != "never" {
		if below, err = money.Parse(args[2]); err != nil {
			return fmt.Errorf("%q %w", args[2], err)
		}
		if below <= 0 {
			return fmt.Errorf("say never, or an amount above 0, not %q", args[2])
		}
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	account, err := a.Settlements.Alert(c.Context(), local(), args[0], settlementID, below)
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), toldBelow(account))
	}
	return err
}

// toldBelow is the balance below which the company is told.
func toldBelow(a settlement.Account) string {
	if a.LowBalance == 0 {
		return "never"
	}
	return a.LowBalance.Decimal()
}

// settlementIn is the number of a settlement account.
func settlementIn(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is not the number of a settlement account", text)
	}
	return n, nil
}
