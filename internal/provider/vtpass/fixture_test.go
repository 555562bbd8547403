package vtpass

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// The plug sends what VTpass's documentation describes, and reads what it shows.
func TestDocumentedExchanges(t *testing.T) {
	providertest.Play(t, "testdata/documented", nil, func(t *testing.T, url string) providertest.Calls {
		p, err := New(Config{
			ClientConfig: provider.ClientConfig{BaseURL: url + "/api", PayDeadline: 5 * time.Second, ReadDeadline: 5 * time.Second},
			APIKey:       "api-1", PublicKey: "PK_1", SecretKey: "SK_1", Phone: "08099999999",
		})
		if err != nil {
			t.Fatal(err)
		}
		return providertest.Calls{
			"pay":      providertest.Call(p.Pay),
			"requery":  providertest.Call(p.Requery),
			"verify":   providertest.Call(p.VerifyEntity),
			"services": providertest.CallOr(func(ctx context.Context, _ struct{}) ([]provider.Service, error) { return p.Services(ctx) }),
			"balance":  providertest.CallOr(func(ctx context.Context, _ struct{}) (money.Kobo, error) { return p.Balance(ctx) }),
			"categories": providertest.CallOr(func(ctx context.Context, in struct{ Service string }) ([]provider.Category, error) {
				return p.Categories(ctx, in.Service)
			}),
			"products": providertest.CallOr(func(ctx context.Context, in struct {
				Kind     provider.ServiceKind
				Category string
			},
			) ([]provider.Product, error) {
				return p.Products(ctx, in.Kind, in.Category)
			}),
			"callback": providertest.CallOr(func(_ context.Context, in struct{ Body json.RawMessage }) (string, error) {
				return p.ParseSaleNotice(in.Body)
			}),
		}
	})
}
