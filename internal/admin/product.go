package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/vtu"
)

func productOf(p vtu.Listed) Product {
	return Product{
		ID: p.ID, Name: p.Name, Kind: string(p.Kind), Vendor: p.Vendor, Biller: p.Provider, Amount: p.Price, Active: p.Active,
	}
}

func pairOf(p vtu.Pair) ProductPair {
	return ProductPair{
		ID: p.ID, First: productOf(p.First), Second: productOf(p.Second), Stale: p.Stale(), CreatedBy: p.CreatedBy, CreatedAt: clock.Text(p.CreatedAt),
	}
}

func (e *edge) listProducts(ctx context.Context, r *request) (any, error) {
	return filtered(ctx, r, productOf, vtu.ListFilter{
		Kind: provider.ServiceKind(r.filter("kind")), Vendor: r.filter("vendor"), Provider: r.filter("biller"),
	}, e.Shop.Listed)
}

func (e *edge) listProductPairs(ctx context.Context, r *request) (any, error) {
	return listed(ctx, r, pairOf, e.Shop.Pairs)
}

func (e *edge) createProductPair(ctx context.Context, r *request, body ProductPairRequest) (any, error) {
	p, err := e.Shop.Pair(ctx, r.by, body.First, body.Second)
	return pairOf(p), err
}

func (e *edge) deleteProductPair(ctx context.Context, r *request) (any, error) {
	return nil, e.Shop.Unpair(ctx, r.by, r.PathValue("id"))
}
