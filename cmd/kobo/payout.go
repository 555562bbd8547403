package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
)

func payoutCommand() *cobra.Command {
	c := &cobra.Command{Use: "payout", Short: "What companies pay for payouts, and how much they may pay out"}
	sub := verbsOf(c)
	sub("fees REFERENCE", "Show a company's fee schedule", 1, either(showFees, showFeesHistory)).
		Flags().Bool("history", false, "all schedules it was ever given, the newest first, and by whom")
	fees := sub("set-fees REFERENCE [FROM:FLAT:PERCENT:CAP ...]", "Give a company a new fee schedule; none is no fees", 1, setFees)
	fees.Args = cobra.MinimumNArgs(1)
	fees.Long = `Give a company a new fee schedule, in bands by the amount paid out. Amounts are naira. A
band holds from its FROM up to the next band's, and the first begins at 0. A fee is FLAT plus
PERCENT of the amount, at most CAP (0 for no cap); a part of a kobo is rounded down.

  kobo payout set-fees REFERENCE 0:10:0:0 5000:25:0:0 50000:50:0.1:2000`
	sub("limits REFERENCE", "Show the daily limits, of the company and of each settlement account, and what is used of them today", 1,
		either(showLimits, showLimitsHistory)).
		Flags().Bool("history", false, "all limits that were ever set, the newest first, and by whom")
	sub("set-limit REFERENCE all|SETTLEMENT-ID AMOUNT PAYOUTS", "Limit what may be paid out in a day", 4, setLimit).
		Long = `Limit what a company, or one of its settlement accounts, may pay out from midnight to midnight
in Lagos: the AMOUNT in naira, without fees, and how many PAYOUTS. 0 is no limit. What was paid
out today already counts.`
	return c
}

// either shows what is in force, or with --history what ever was.
func either(now, history func(c *cobra.Command, a *app.App, args []string) error) func(c *cobra.Command, a *app.App, args []string) error {
	return func(c *cobra.Command, a *app.App, args []string) error {
		if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
			return err
		}
		if flagOf(c, "history") == "true" {
			return history(c, a, args)
		}
		return now(c, a, args)
	}
}

func showFees(c *cobra.Command, a *app.App, args []string) error {
	schedule, since, err := a.Payouts.FeesSince(c.Context(), args[0])
	if err != nil {
		return err
	}
	if len(schedule) == 0 {
		fmt.Fprintf(c.OutOrStdout(), "no fees, since %s\n", sinceOf(since))
		return nil
	}
	fmt.Fprintf(c.OutOrStdout(), "since %s\n", sinceOf(since))
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FROM\tFLAT\tPERCENT\tCAP")
	for _, b := range schedule {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", b.From.Decimal(), b.Flat.Decimal(), money.Kobo(b.BasisPoints).Decimal(), b.Cap.Decimal())
	}
	return w.Flush()
}

func showFeesHistory(c *cobra.Command, a *app.App, args []string) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SINCE\tBY\tFROM:FLAT:PERCENT:CAP")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Reports.FeesHistory(c.Context(), args[0], limit, offset)
		for _, f := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\n", clock.Text(f.At), f.By, f.Schedule)
		}
		return len(list), err
	})
}

func showLimitsHistory(c *cobra.Command, a *app.App, args []string) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SINCE\tBY\tOF\tAMOUNT\tPAYOUTS")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Reports.LimitsHistory(c.Context(), args[0], limit, offset)
		for _, l := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", clock.Text(l.Since), l.By, limitedOf(l.SettlementID), l.Amount.Decimal(), l.Payouts)
		}
		return len(list), err
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
	return a.Payouts.SetFees(c.Context(), local(), args[0], schedule)
}

// band reads FROM:FLAT:PERCENT:CAP. A percentage has two decimals, as naira
// have, and so is read as they are: its hundredths are basis points.
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

// limited is the settlement account that a limit is of; 0 for the whole company.
func limited(text string) (int64, error) {
	if text == "all" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, usagef("say all, or the number of a settlement account, not %q", text)
	}
	return n, nil
}

// limitedOf is what a limit is of, as limited reads it.
func limitedOf(settlementID int64) string {
	if settlementID == 0 {
		return "all"
	}
	return strconv.FormatInt(settlementID, 10)
}

func showLimits(c *cobra.Command, a *app.App, args []string) error {
	day, uses, err := a.Payouts.Uses(c.Context(), args[0])
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "OF\tAMOUNT\tPAYOUTS\tSINCE\tUSED ON %s\tPAYOUTS\tLEFT\tPAYOUTS\n", day)
	for _, u := range uses {
		left := [2]string{"no limit", "no limit"}
		amount, payouts := u.Left()
		if u.Amount > 0 {
			left[0] = amount.Decimal()
		}
		if u.Payouts > 0 {
			left[1] = strconv.FormatInt(payouts, 10)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\n", limitedOf(u.SettlementID), u.Amount.Decimal(), u.Limit.Payouts, sinceOf(u.Since),
			u.Used.Decimal(), u.UsedPayouts, left[0], left[1])
	}
	return w.Flush()
}

// sinceOf is an instant, or never.
func sinceOf(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return clock.Text(t)
}

func setLimit(c *cobra.Command, a *app.App, args []string) error {
	settlementID, err := limited(args[1])
	if err != nil {
		return err
	}
	amount, err := money.Parse(args[2])
	if err != nil {
		return usagef("%q %w", args[2], err)
	}
	payouts, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return usagef("%q is not a number of payouts", args[3])
	}
	if _, err := a.Companies.Find(c.Context(), args[0]); err != nil {
		return err
	}
	return a.Payouts.SetLimit(c.Context(), local(), args[0], settlementID, payout.Limit{Amount: amount, Payouts: payouts})
}
