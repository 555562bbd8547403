package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

func productCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "product",
		Short: "Pair products of different billers",
		Long: `List the products on the billers' lists, and pair those that are the same. A purchase of data
or TV that its biller has definitely never started moves to the paired product, if vtu.routes
names the other biller after the first. The company pays the price of the product that it bought.`,
	}
	add := commandsOf(c)
	var f vtu.ListFilter
	list := add("list", "List the products of all billers", 0, func(c *cobra.Command, a *app.App, _ []string) error {
		return listProducts(c, a, f)
	}).Flags()
	list.StringVar((*string)(&f.Kind), "kind", "", "only AIRTIME, DATA, CABLE_TV or UTILITY")
	list.StringVar(&f.Vendor, "vendor", "", "only products of this vendor, such as MTN")
	list.StringVar(&f.Provider, "biller", "", "only products of this biller, such as vtpass")
	add("pairs", "List the pairs of products, newest first", 0, listPairs)
	add("pair FIRST SECOND", "Declare that two products, by their ids, are the same", 2, func(c *cobra.Command, a *app.App, args []string) error {
		p, err := a.Shop.Pair(c.Context(), local(), args[0], args[1])
		return done(c, err, "%s", p.ID)
	})
	add("unpair ID", "End a pair; purchases that begin later do not move", 1, func(c *cobra.Command, a *app.App, args []string) error {
		return a.Shop.Unpair(c.Context(), local(), args[0])
	})
	return c
}

func listProducts(c *cobra.Command, a *app.App, f vtu.ListFilter) error {
	kinds := []provider.ServiceKind{"", provider.Airtime, provider.Data, provider.CableTV, provider.Utility}
	if !slices.Contains(kinds, f.Kind) {
		return fault.Newf(fault.Invalid, "%s is no kind of product: %v", f.Kind, kinds[1:])
	}
	return printAll(c, "ID BILLER KIND VENDOR PRICE NAME", f, a.Shop.Listed, func(p vtu.Listed) []any {
		return []any{p.ID, p.Provider, p.Kind, p.Vendor, p.Price.Decimal(), p.Name}
	})
}

func listPairs(c *cobra.Command, a *app.App, _ []string) error {
	all := func(ctx context.Context, _ struct{}, limit, offset int) ([]vtu.Pair, int64, error) {
		return a.Shop.Pairs(ctx, limit, offset)
	}
	return printAll(c, "ID SINCE BY BILLERS PRICES FIRST SECOND STALE", struct{}{}, all, func(p vtu.Pair) []any {
		return []any{
			p.ID, clock.Text(p.CreatedAt), p.CreatedBy, p.First.Provider + " " + p.Second.Provider,
			p.First.Price.Decimal() + " " + p.Second.Price.Decimal(), p.First.Name, p.Second.Name, dash(p.Stale()),
		}
	})
}
