package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
)

func payoutCommand() *cobra.Command {
	c := &cobra.Command{Use: "payout", Short: "Set the fees and limits of payouts"}
	add := commandsOf(c)
	add("fees REFERENCE", "Show a company's fee schedule", 1, nowOrHistory(showFees, showFeesHistory)).
		Flags().Bool("history", false, "show every schedule so far with its operator, newest first")
	fees := add("set-fees REFERENCE [FROM:FLAT:PERCENT:CAP ...]", "Set a company's fee schedule; no bands are no fees", 1, setFees)
	fees.Args = cobra.MinimumNArgs(1)
	fees.Long = `Set a company's fee schedule, in bands by the amount of a payout. Amounts are in naira. A
band holds from its FROM up to the FROM of the next band. The first band begins at 0. A fee
is FLAT plus PERCENT of the amount, and at most CAP (0 for no cap). Parts of a kobo are
rounded down.

  kobo payout set-fees REFERENCE 0:10:0:0 5000:25:0:0 50000:50:0.1:2000`
	add("limits REFERENCE", "Show the daily limits of a company and its settlement accounts, and their use today", 1,
		nowOrHistory(showLimits, showLimitsHistory)).
		Flags().Bool("history", false, "show every limit so far with its operator, newest first")
	add("set-limit REFERENCE all|SETTLEMENT-ID AMOUNT PAYOUTS", "Set a daily limit of payouts", 4, setLimit).
		Long = `Set a daily limit for the payouts of a company, or of one of its settlement accounts. AMOUNT is
the sum in naira without fees, PAYOUTS the number. 0 is no limit. A day is from midnight to
midnight in Lagos. Payouts of today already count.`
	return c
}

// nowOrHistory returns an action that shows the current values. With the flag --history, the action
// shows all earlier values too.
func nowOrHistory(now, history action) action {
	return ofCompany(func(c *cobra.Command, a *app.App, args []string) error {
		if flagOf(c, "history") == "true" {
			return history(c, a, args)
		}
		return now(c, a, args)
	})
}

func showFees(c *cobra.Command, a *app.App, args []string) error {
	schedule, since, err := a.Payouts.FeesSince(c.Context(), args[0])
	if err != nil || len(schedule) == 0 {
		return done(c, err, "no fees, since %s", instant(since))
	}
	fmt.Fprintf(c.OutOrStdout(), "since %s\n", instant(since))
	return printList(c, "FROM FLAT PERCENT CAP", schedule, nil, func(b payout.Band) []any {
		return []any{b.From.Decimal(), b.Flat.Decimal(), money.Kobo(b.BasisPoints).Decimal(), b.Cap.Decimal()}
	})
}

func showFeesHistory(c *cobra.Command, a *app.App, args []string) error {
	return printAll(c, "SINCE BY FROM:FLAT:PERCENT:CAP", args[0], a.Reports.FeesHistory, func(is report.FeesSet) []any {
		return []any{clock.Text(is.At), is.By, is.Schedule}
	})
}

func showLimitsHistory(c *cobra.Command, a *app.App, args []string) error {
	return printAll(c, "SINCE BY OF AMOUNT PAYOUTS", args[0], a.Reports.LimitsHistory, func(is report.LimitSet) []any {
		return []any{clock.Text(is.Since), is.By, accountOrAll(is.SettlementID), is.Amount.Decimal(), is.Payouts}
	})
}

func setFees(c *cobra.Command, a *app.App, args []string) error {
	var schedule payout.Schedule
	for _, text := range args[1:] {
		b, err := band(text)
		if err != nil {
			return err
		}
		schedule = append(schedule, b)
	}
	bands := make([]map[string]any, len(schedule))
	for i, b := range schedule {
		bands[i] = map[string]any{"from": b.From, "flat": b.Flat, "percent": money.Kobo(b.BasisPoints), "cap": b.Cap}
	}
	return act(c, a, at("companies", args[0], "payout-fees"), map[string]any{"bands": bands}, func() error {
		return a.Payouts.SetFees(c.Context(), local(), args[0], schedule)
	})
}

// band parses FROM:FLAT:PERCENT:CAP. A percentage has two decimals, like an amount in naira.
// So money.Parse returns the percentage in basis points, as it returns naira in kobo.
func band(text string) (payout.Band, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 4 {
		return payout.Band{}, usagef("%q is not FROM:FLAT:PERCENT:CAP", text)
	}
	var n [4]money.Kobo
	for i, p := range parts {
		var err error
		if n[i], err = money.Parse(p); err != nil {
			return payout.Band{}, usagef("%q in %q %w", p, text, err)
		}
	}
	return payout.Band{From: n[0], Flat: n[1], BasisPoints: int64(n[2]), Cap: n[3]}, nil
}

// accountIn returns the number of the settlement account that a limit applies to. The number 0
// means the whole company.
func accountIn(text string) (int64, error) {
	if text == "all" {
		return 0, nil
	}
	n, err := settlementIn(text)
	if err != nil {
		return 0, usagef("say all, or the number of a settlement account, not %q", text)
	}
	return n, nil
}

// accountOrAll returns a settlement account's number as text, or "all" for the whole company. The
// function accountIn can read that text again.
func accountOrAll(settlementID int64) string {
	if settlementID == 0 {
		return "all"
	}
	return strconv.FormatInt(settlementID, 10)
}

func showLimits(c *cobra.Command, a *app.App, args []string) error {
	day, uses, err := a.Payouts.Uses(c.Context(), args[0])
	return printList(c, "OF AMOUNT PAYOUTS SINCE USED_ON_"+day+" PAYOUTS LEFT PAYOUTS", uses, err, func(u payout.Use) []any {
		left := [2]string{"no limit", "no limit"}
		amount, payouts := u.Left()
		if u.Amount > 0 {
			left[0] = amount.Decimal()
		}
		if u.Payouts > 0 {
			left[1] = strconv.FormatInt(payouts, 10)
		}
		return []any{
			accountOrAll(u.SettlementID), u.Amount.Decimal(), u.Limit.Payouts, instant(u.Since),
			u.Used.Decimal(), u.UsedPayouts, left[0], left[1],
		}
	})
}

// instant returns a time as text. For the zero time it returns "never".
func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return clock.Text(t)
}

func setLimit(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := accountIn(args[1])
	if err != nil {
		return err
	}
	amount, err := nairaIn(args[2])
	if err != nil {
		return err
	}
	payouts, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return usagef("%q is not a number of payouts", args[3])
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	body := map[string]any{"amount": amount, "payouts": payouts}
	if settlementID != 0 {
		body["settlementId"] = settlementID
	}
	return act(c, a, at("companies", args[0], "payout-limits"), body, func() error {
		return a.Payouts.SetLimit(c.Context(), local(), args[0], settlementID, payout.Limit{Amount: amount, Payouts: payouts})
	})
}
