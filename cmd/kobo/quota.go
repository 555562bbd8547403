package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
)

// addQuotaCommands adds the commands of kobo company for quotas.
func addQuotaCommands(add adder) {
	add("quotas REFERENCE", "Show the daily quotas of OTPs, accounts and addresses, and their use today", 1,
		nowOrHistory(showQuotas, showQuotasHistory)).
		Flags().Bool("history", false, "show every quota so far with its operator, newest first")
	add("set-quota REFERENCE KIND MOST", "Set a daily quota: otp, settlement-account, crypto-address, virtual-account", 3, setQuota).
		Long = `Set how many of a KIND the company may begin from midnight to midnight in Lagos. The kinds are
otp, settlement-account, crypto-address and virtual-account. 0 is no limit. Requests of today
already count. Settlement accounts that operators open do not count.`
}

func showQuotas(c *cobra.Command, a *app.App, args []string) error {
	day, uses, err := a.Quotas.Uses(c.Context(), args[0])
	if err != nil {
		return err
	}
	t := newTable(c.OutOrStdout(), "KIND", "MOST", "SINCE", "USED ON "+day, "LEFT")
	for _, u := range uses {
		left := "no limit"
		if u.Most > 0 {
			left = strconv.FormatInt(u.Left(), 10)
		}
		t.row(u.Kind, u.Most, instant(u.Since), u.Used, left)
	}
	return t.Flush()
}

func showQuotasHistory(c *cobra.Command, a *app.App, args []string) error {
	return printAll(c, "SINCE BY KIND MOST",
		func(limit, offset int) ([]report.QuotaSet, int64, error) {
			return a.Reports.QuotasHistory(c.Context(), args[0], limit, offset)
		},
		func(is report.QuotaSet) []any { return []any{clock.Text(is.Since), is.By, is.Kind, is.Most} })
}

func setQuota(c *cobra.Command, a *app.App, args []string) error {
	most, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return usagef("%q is not a number", args[2])
	}
	return a.Quotas.Set(c.Context(), local(), args[0], quota.Kind(args[1]), most)
}
