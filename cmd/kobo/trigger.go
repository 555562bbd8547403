package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func triggerCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trigger KIND",
		Short: "Cause an event in the sandbox",
		Long: `Use the API and the sandbox until the feed of the development company has an event of this
kind. The money of the sandbox really moves. Some kinds move the clock of the sandbox.

Kinds:
` + triggers() + `

The kinds that report acts of operators (kyb.changed, company.*, card.address_changed,
crypto.key_changed, settlement.* but credit and low_balance) happen to a new company,
because the company of kobo dev stays as it is. The command creates the company with
the admin key of the credentials.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeKinds,
	}
	who := developing(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := who()
		if err != nil {
			return err
		}
		found, err := d.trigger(c.Context(), args[0])
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "%s\n", found.text)
		}
		return err
	}
	return c
}

// triggers returns all kinds of events as text. Each line has the kinds with the same first word,
// such as vtu.
func triggers() string {
	var lines []string
	family := ""
	for _, kind := range slices.Sorted(maps.Keys(recipes)) {
		was := family
		if family, _, _ = strings.Cut(kind, "."); family != was {
			lines = append(lines, "  "+kind)
			continue
		}
		lines[len(lines)-1] += " " + kind
	}
	return strings.Join(lines, "\n")
}

// completeKinds returns the kinds of events as suggestions for the shell's completion.
func completeKinds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return slices.Sorted(maps.Keys(recipes)), cobra.ShellCompDirectiveNoFileComp
}

// trigger causes an event of a kind, and returns that event.
func (d *developer) trigger(ctx context.Context, kind string) (told, error) {
	do, known := recipes[kind]
	if !known {
		return told{}, usagef("%q cannot be triggered; these can:\n%s", kind, triggers())
	}
	after, err := d.last(ctx)
	s := &script{developer: d, ctx: ctx, err: err}
	if slices.Contains(ofNewcomer, kind) || strings.HasPrefix(kind, "company.") && kind != "company.renewal_due" {
		s.newcomer()
		after = 0
	}
	if do(s); s.err != nil {
		return told{}, s.err
	}
	return s.await(ctx, kind, after)
}

// await returns the first event of a kind after the event with a number. It waits for at most 30
// seconds.
func (d *developer) await(ctx context.Context, kind string, after int64) (told, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		page, err := d.events(ctx, after, 1000, 5)
		if errors.Is(err, context.DeadlineExceeded) {
			return told{}, fmt.Errorf("the sandbox did it, but no event %s came within 30 seconds", kind)
		}
		if err != nil {
			return told{}, fmt.Errorf("the sandbox did it, but no event %s came: %w", kind, err)
		}
		for _, e := range page {
			if after = e.Sequence; e.Event == kind {
				return e, nil
			}
		}
	}
}

// recipe is a function that causes an event.
type recipe func(s *script)

// recipes has a recipe for each kind of event. The last digits of a phone number, an account
// number or an amount choose what the sandbox does (docs/sandbox.md).
var recipes = map[string]recipe{
	"vtu.pending":                  buy("10"),
	"vtu.success":                  buy("10"),
	"vtu.failed":                   buy("01"),
	"vtu.reversed":                 buyAndBack,
	"bulk_payout.checked":          checkBulk,
	"bulk_payout.completed":        payBulk,
	"payout.pending":               payOut("10"),
	"payout.success":               payOut("10"),
	"payout.failed":                payOut("01"),
	"payout.reversed":              payOutAndBack,
	"settlement.credit":            paidIn,
	"virtual_account.success":      virtualAccount(true, false),
	"virtual_account.failed":       virtualAccount(false, false),
	"virtual_account.late_payment": virtualAccount(false, true),
	"customer.created":             func(s *script) { s.customer() },
	"customer.account_generated":   func(s *script) { s.customerAccount() },
	"customer.erased":              erasedCustomer,
	"transaction.credit":           customerCredit,
	"card.generated":               func(s *script) { s.card() },
	"card.funding_pending":         fundCard(5000),
	"card.funded":                  fundCard(5000),
	"card.funding_failed":          fundCard(5001),
	"card.frozen":                  changeCard("freeze"),
	"card.unfrozen":                changeCard("freeze", "unfreeze"),
	"card.terminated":              changeCard("terminate"),
	"crypto.deposit_pending":       onChain("crypto-deposit", false, false),
	"crypto.deposit_completed":     onChain("crypto-deposit", true, false),
	"crypto.deposit_failed":        onChain("crypto-deposit", false, true),
	"crypto.withdrawal_completed":  onChain("crypto-withdrawal", true, false),
	"crypto.withdrawal_failed":     onChain("crypto-withdrawal", false, true),
	"corporate.kyc_verified":       func(s *script) { s.kyc() },
	"corporate.account_created":    corporateAccount,
	"corporate.account_updated":    heldAccount,
	"settlement.low_balance":       lowBalance,
	"webhook.endpoint_failing":     failingWebhook,
	"checkpoint.signed":            signCheckpoint,
	"company.api_key_issued":       operated("api-keys", map[string]any{}),
	"company.api_key_revoked":      revokedKey,
	"company.key_token_issued":     operated("api-keys", map[string]any{"token": true}),
	"company.pin_token_issued":     operated("pin-reset", map[string]any{}),
	"company.pin_changed":          operated("pin", map[string]any{"pin": "1234"}),
	"company.pin_locked":           lockedPIN,
	"company.pin_unlocked":         unlockedPIN,
	"company.live_changed":         takeOn,
	"company.limits_changed":       operated("payout-limits", map[string]any{"amount": 5_000_000, "payouts": 200}),
	"company.fees_changed":         operated("payout-fees", map[string]any{"bands": []map[string]any{{"from": 0, "flat": 10}}}),
	"company.renewal_due":          renewalDue,
	attachedAccount:                accountOf("bank-accounts", attachable),
	changedStatus:                  accountOf("status", inactive),
	adjusted:                       adjustedAccount,
	openedAccount:                  operated("settlement-accounts", map[string]any{"name": "Trigger"}),
	changedAlert:                   accountOf("alert", func() map[string]any { return map[string]any{"lowBalance": 5000} }),
	changedAddress:                 operated("card-address", map[string]any{"line1": "1 Trigger Road", "city": "Lagos", "state": "Lagos"}),
	changedKey:                     changedXpub,
	kybChanged:                     takeOn,
}
