// Package providertest holds the tests that every plug must pass. The tests simulate all ways in
// which a purchase, a transfer, an account opening or an identity check can end.
//
// The tests run against the sandbox over HTTP. The Wire between the plug and the sandbox simulates
// failures, called accidents. The tests prove that the plug never reports an uncertain outcome as
// certain, and that it never executes anything twice.
package providertest

import (
	"context"
	"testing"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/provider"
)

// World is the test setup of a biller: its plug, the simulated provider, and the wire between them.
// The provider implements the test scenarios ("stories") of completion.md §5, which the last two
// digits of a number choose.
type World struct {
	Biller provider.Biller
	Wire   *Wire
	// Paying and Asking are the paths of a payment and of a requery. A path that ends with a slash
	// matches all paths below it.
	Paying, Asking string
	// Keyed is true for a plug that authenticates with permanent keys. After a 401 such a plug does
	// not send the request again. A plug that authenticates with access tokens does so, with a new
	// token.
	Keyed bool
	// Purchase returns a purchase for a number that ends with the digits ending. RunBiller fills in
	// the reference.
	Purchase func(ending string) provider.Purchase
	// Executed counts how often the provider carried out a purchase, whatever its replies stated.
	Executed func(t *testing.T, reference string) int
}

// RunBiller runs all tests of a biller's plug. Each test creates a new World.
func RunBiller(t *testing.T, newWorld func(t *testing.T) World) {
	t.Run("catalogue", func(t *testing.T) { catalogue(t, newWorld(t)) })
	runPayments(t, func(t *testing.T) trade {
		w := newWorld(t)
		return trade{
			wire: w.Wire, paying: w.Paying, asking: w.Asking, keyed: w.Keyed, executed: w.Executed,
			order: func(_ *testing.T, ending string) order {
				p := w.Purchase(ending)
				p.Reference = id.New()
				return order{
					reference: p.Reference,
					pay:       func(ctx context.Context) provider.Answer { return w.Biller.Pay(ctx, p) },
					ask: func(ctx context.Context) provider.Answer {
						return w.Biller.Requery(ctx, provider.Sale{Reference: p.Reference, Begun: p.Begun, Kind: p.Kind})
					},
				}
			},
		}
	})
	t.Run("no catalogue from nowhere", func(t *testing.T) {
		w := newWorld(t)
		w.Wire.Cut()
		if _, err := w.Biller.Services(context.Background()); !isError(err) {
			t.Errorf("%v", err)
		}
	})
}

func catalogue(t *testing.T, w World) {
	ctx := context.Background()
	if w.Biller.Name() == "" {
		t.Error("a biller without a name")
	}
	services, err := w.Biller.Services(ctx)
	if err != nil || len(services) == 0 {
		t.Fatalf("services: %v, %v", services, err)
	}
	products := 0
	for _, s := range services {
		if s.Code == "" || s.Name == "" || s.Kind == "" {
			t.Errorf("half a service: %+v", s)
		}
		categories, err := w.Biller.Categories(ctx, s.Code)
		if err != nil || len(categories) == 0 {
			t.Fatalf("categories of %s: %v, %v", s.Name, categories, err)
		}
		for _, c := range categories {
			list, err := w.Biller.Products(ctx, s.Kind, c.Code)
			if err != nil {
				t.Fatalf("products of %s: %v", c.Name, err)
			}
			for _, p := range list {
				if p.Code == "" || p.Name == "" && p.Validity == "" || p.Fixed && p.Amount <= 0 {
					t.Errorf("half a product: %+v", p)
				}
			}
			products += len(list)
		}
	}
	if products == 0 {
		t.Error("nothing is on sale")
	}
	if _, err := w.Biller.Categories(ctx, "no-such-service"); !isError(err) {
		t.Errorf("an unknown service: %v", err)
	}
}
