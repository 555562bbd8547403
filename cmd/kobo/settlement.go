package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// settlementVerbs are what kobo company does with settlement accounts.
func settlementVerbs(sub verb) {
	sub("settlement REFERENCE NAME", "Open a settlement account", 2, openSettlement)
	sub("settlement-status REFERENCE SETTLEMENT-ID ACTIVE|INACTIVE", "Switch a settlement account on or off", 3, setSettlementStatus).
		Flags().String("reason", "", "why, for the audit log")
	sub("settlement-alert REFERENCE SETTLEMENT-ID AMOUNT|never", "Say below which balance (naira) the company is told", 3, setSettlementAlert)
	sub("bank-accounts REFERENCE SETTLEMENT-ID", "List the bank accounts that feed a settlement account", 2, listBankAccounts)
	attach := sub("bank-account REFERENCE SETTLEMENT-ID BANK ACCOUNT-NUMBER ACCOUNT-NAME", "Have a bank account that was opened otherwise feed a settlement account", 5, attachBankAccount)
	attach.Long = `Have a bank account that was opened otherwise, in the bank's dashboard say, feed a settlement
account. BANK is the provider: safehaven. What is paid into the account from here on goes into the
settlement account; what came in before stays where it is, in suspense with its case.

A bank account is one company's for good and cannot be taken away again. One that belongs to
another company, to a customer, or to us is refused.`
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
			return usagef("%q %w", args[2], err)
		}
		if below <= 0 {
			return usagef("say never, or an amount above 0, not %q", args[2])
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
		return 0, usagef("%q is not the number of a settlement account", text)
	}
	return n, nil
}

func listBankAccounts(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	all, err := a.Settlements.BankAccounts(c.Context(), args[0], settlementID)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ACCOUNT\tNAME\tBANK\tCODE\tSINCE")
	for _, b := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", b.Number, b.Name, b.BankName, b.BankCode, clock.Text(b.Since))
	}
	return w.Flush()
}

func attachBankAccount(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := settlementIn(args[1])
	if err != nil {
		return err
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	b, err := a.Settlements.Attach(c.Context(), local(), args[0], settlementID, args[2], args[3], args[4])
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "%s (%s, %s) feeds settlement account %d\n", b.Number, b.Name, b.BankName, settlementID)
	}
	return err
}
