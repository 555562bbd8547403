package tatum_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/tatum"
	"github.com/kobo-waas/kobo/internal/secret"
)

type onNetwork struct {
	Network, Address, Hash, Key string
	Index                       int64
}

// The plug sends what Tatum's documentation describes, and reads what it shows.
func TestDocumentedExchanges(t *testing.T) {
	providertest.Play(t, "testdata/documented", nil, func(t *testing.T, url string) providertest.Calls {
		p, err := tatum.New(tatum.Config{
			ClientConfig: provider.ClientConfig{BaseURL: url, ReadDeadline: 5 * time.Second},
			APIKey:       secret.NewText("the-key"), HMACSecret: secret.NewText(hmacKey), CallbackURL: callback,
			Networks: chain.Testnets(), RemoteAddresses: true,
		}, clock.At(time.Unix(1_900_000_000, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return providertest.Calls{
			"watch": providertest.CallOr(func(ctx context.Context, in onNetwork) (string, error) {
				return p.Watch(ctx, network(in.Network), in.Address)
			}),
			"unwatch": providertest.CallOr(func(ctx context.Context, in struct{ Reference string }) (any, error) {
				return nil, p.Unwatch(ctx, in.Reference)
			}),
			"notice": providertest.CallOr(func(_ context.Context, in struct{ Hash, Body string }) ([]provider.Movement, error) {
				return p.ParseNotification(http.Header{tatum.HashHeader: {in.Hash}}, []byte(in.Body))
			}),
			"since": providertest.CallOr(func(ctx context.Context, in struct{ Cursor string }) (provider.Batch, error) {
				return p.Since(ctx, in.Cursor, nil)
			}),
			"inclusion": providertest.CallOr(func(ctx context.Context, in onNetwork) (provider.Inclusion, error) {
				return p.Inclusion(ctx, network(in.Network), in.Hash)
			}),
			"address": providertest.CallOr(func(ctx context.Context, in onNetwork) (string, error) {
				key, err := chain.ParseKey(in.Key)
				if err != nil {
					return "", err
				}
				return p.Address(ctx, network(in.Network), key, in.Index)
			}),
		}
	})
}
