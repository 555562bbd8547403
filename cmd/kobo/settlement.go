package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func addSettlementCommands(add adder) {
	add("settlement REFERENCE NAME", "Open a settlement account", 2, openSettlement)
	add("settlement-status REFERENCE SETTLEMENT-ID ACTIVE|INACTIVE", "Switch a settlement account on or off", 3,
		ofSettlement(setSettlementStatus)).
		Flags().String("reason", "", "the reason, for the audit log")
	add("settlement-alert REFERENCE SETTLEMENT-ID AMOUNT|never", "Alert the company when the balance falls below this amount (naira)", 3,
		ofSettlement(setSettlementAlert))
	add("bank-accounts REFERENCE SETTLEMENT-ID", "List the bank accounts that feed a settlement account", 2, ofSettlement(listBankAccounts))
	add("bank-account REFERENCE SETTLEMENT-ID BANK ACCOUNT-NUMBER ACCOUNT-NAME", "Attach an existing bank account to a settlement account", 5,
		ofSettlement(attachBankAccount)).
		Long = `Attach a bank account that Kobo did not open to a settlement account. BANK is the name of the
bank's plug; a wrong name prints all names. Payments into the bank account go into the
settlement account from now on. Earlier payments stay in suspense with their cases.

A bank account belongs to one company for good and cannot be detached. The command refuses an
account of another company, of a customer, or of our own.`
}

// ofSettlement returns an action for a settlement account. The action reads the account's number
// from args[1], checks that the company exists, and runs do.
func ofSettlement(do func(c *cobra.Command, a *app.App, settlementID int64, args []string) error) action {
	return func(c *cobra.Command, a *app.App, args []string) error {
		settlementID, err := settlementIn(args[1])
		if err != nil {
			return err
		}
		if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
			return err
		}
		return do(c, a, settlementID, args)
	}
}

func openSettlement(c *cobra.Command, a *app.App, args []string) error {
	account, err := a.Settlements.CreateFor(c.Context(), local(), args[0], args[1])
	return done(c, err, "%d", account.ID)
}

func setSettlementStatus(c *cobra.Command, a *app.App, settlementID int64, args []string) error {
	account, err := a.Settlements.SetStatus(c.Context(), local(), args[0], settlementID, settlement.Status(args[2]), flagOf(c, "reason"))
	return done(c, err, "%s", account.Status)
}

func setSettlementAlert(c *cobra.Command, a *app.App, settlementID int64, args []string) error {
	var below money.Kobo
	if args[2] != "never" {
		var err error
		if below, err = nairaIn(args[2]); err != nil {
			return err
		}
		if below <= 0 {
			return usagef("say never, or an amount above 0, not %q", args[2])
		}
	}
	account, err := a.Settlements.Alert(c.Context(), local(), args[0], settlementID, below)
	return done(c, err, "%s", alertOf(account))
}

// alertOf returns the balance below which the company gets an alert, or "never".
func alertOf(a settlement.Account) string {
	if a.LowBalance == 0 {
		return "never"
	}
	return a.LowBalance.Decimal()
}

func settlementIn(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, usagef("%q is not the number of a settlement account", text)
	}
	return n, nil
}

func listBankAccounts(c *cobra.Command, a *app.App, settlementID int64, args []string) error {
	all, err := a.Settlements.BankAccounts(c.Context(), args[0], settlementID)
	return printList(c, "ACCOUNT NAME BANK CODE SINCE", all, err, func(b settlement.BankAccount) []any {
		return []any{b.Number, b.Name, b.BankName, b.BankCode, clock.Text(b.Since)}
	})
}

func attachBankAccount(c *cobra.Command, a *app.App, settlementID int64, args []string) error {
	path := at("companies", args[0], "settlement-accounts", args[1], "bank-accounts")
	return act(c, a, path, map[string]string{"bank": args[2], "accountNumber": args[3], "accountName": args[4]}, func() error {
		b, err := a.Settlements.Attach(c.Context(), local(), args[0], settlementID, args[2], args[3], args[4])
		return done(c, err, "%s (%s, %s) feeds settlement account %d", b.Number, b.Name, b.BankName, settlementID)
	})
}
