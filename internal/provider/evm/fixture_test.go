package evm_test

import (
	"context"
	"testing"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// The plug sends what the specification of nodes describes, and reads what it shows.
func TestDocumentedExchanges(t *testing.T) {
	var sepolia chain.Network
	for _, n := range chain.Testnets() {
		if n.ID == "ethereum-sepolia" {
			sepolia = n
		}
	}
	mine := func(_ context.Context, _ string, _ []string) (map[string]bool, error) {
		return map[string]bool{"0x00000000000000000000000000000000000000aa": true}, nil
	}
	providertest.Play(t, "testdata/documented", nil, func(t *testing.T, url string) providertest.Calls {
		p := plug(t, sepolia, url, nil)
		p.Hurry()
		return providertest.Calls{
			"inclusion": providertest.CallOr(func(ctx context.Context, in struct{ Hash string }) (provider.Inclusion, error) {
				return p.Inclusion(ctx, sepolia, in.Hash)
			}),
			"since": providertest.CallOr(func(ctx context.Context, in struct{ Cursor string }) (provider.Batch, error) {
				return p.Since(ctx, in.Cursor, mine)
			}),
			"holdings": providertest.CallOr(func(ctx context.Context, in struct {
				Cursor    string
				Addresses []string
			},
			) (any, error) {
				block, of, err := p.Holdings(ctx, sepolia, in.Cursor, in.Addresses)
				return struct {
					Block int64
					Of    []provider.Holding
				}{block, of}, err
			}),
		}
	})
}
