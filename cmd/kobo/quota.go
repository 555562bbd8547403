package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
)

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
	return printList(c, "KIND MOST SINCE USED_ON_"+day+" LEFT", uses, err, func(u quota.Use) []any {
		left := "no limit"
		if u.Most > 0 {
			left = strconv.FormatInt(u.Left(), 10)
		}
		return []any{u.Kind, u.Most, instant(u.Since), u.Used, left}
	})
}

func showQuotasHistory(c *cobra.Command, a *app.App, args []string) error {
	return printAll(c, "SINCE BY KIND MOST", args[0], a.Reports.QuotasHistory, func(is report.QuotaSet) []any {
		return []any{clock.Text(is.Since), is.By, is.Kind, is.Most}
	})
}

func setQuota(c *cobra.Command, a *app.App, args []string) error {
	most, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return usagef("%q is not a number", args[2])
	}
	return act(c, a, at("companies", args[0], "quotas"), map[string]any{"kind": args[1], "most": most}, func() error {
		return a.Quotas.Set(c.Context(), local(), args[0], quota.Kind(args[1]), most)
	})
}
