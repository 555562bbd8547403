package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/quota"
)

// quotaVerbs are what kobo company does with quotas.
func quotaVerbs(sub verb) {
	sub("quotas REFERENCE", "Show how many OTPs, accounts and addresses it may begin in a day, and what is used today", 1,
		either(showQuotas, showQuotasHistory)).
		Flags().Bool("history", false, "all quotas that were ever set, the newest first, and by whom")
	sub("set-quota REFERENCE KIND MOST", "Set a quota of a day: otp, settlement-account, crypto-address, virtual-account", 3, setQuota).
		Long = `Set how many of a KIND the company may begin from midnight to midnight in Lagos. The kinds are
otp, settlement-account, crypto-address and virtual-account. 0 is no limit. What began today
already counts. Settlement accounts that operators open do not count.`
}

func showQuotas(c *cobra.Command, a *app.App, args []string) error {
	day, uses, err := a.Quotas.Uses(c.Context(), args[0])
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "KIND\tMOST\tSINCE\tUSED ON %s\tLEFT\n", day)
	for _, u := range uses {
		left := "no limit"
		if u.Most > 0 {
			left = strconv.FormatInt(u.Left(), 10)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\n", u.Kind, u.Most, sinceOf(u.Since), u.Used, left)
	}
	return w.Flush()
}

func showQuotasHistory(c *cobra.Command, a *app.App, args []string) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SINCE\tBY\tKIND\tMOST")
	return pages(w, func(limit, offset int) (int, error) {
		list, _, err := a.Reports.QuotasHistory(c.Context(), args[0], limit, offset)
		for _, l := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", clock.Text(l.Since), l.By, l.Kind, l.Most)
		}
		return len(list), err
	})
}

func setQuota(c *cobra.Command, a *app.App, args []string) error {
	most, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return usagef("%q is not a number", args[2])
	}
	return a.Quotas.Set(c.Context(), local(), args[0], quota.Kind(args[1]), most)
}
