package vtu_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// instant is a biller in this process that sells everything immediately.
type instant struct{ biller }

func (*instant) Pay(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Outcome: provider.Confirmed, Code: "delivered", Reference: "1"}
}

// till is a shop with an instant biller, a product and one company with money.
type till struct {
	*vtu.Shop
	keys    *idempotency.Service
	company string
	product vtu.DataPurchase
}

func newTill(b testing.TB, dialect db.Dialect) *till {
	d, clk, log := dbtest.New(b, dialect), clock.System{}, slog.New(slog.DiscardHandler)
	book := ledger.New(d, clk)
	b.Cleanup(book.Drain)
	operations := operation.NewService(d, book, clk, log, 5*time.Second)
	settlements := settlement.New(settlement.Config{DB: d, Book: book, Clock: clk, Operations: operations})
	sells := &instant{biller{
		services:   []provider.Service{{Code: "data", Name: "Data", Kind: provider.Data}},
		categories: []provider.Category{{Code: "mtn", Name: "MTN", Vendor: "MTN"}},
		products:   []provider.Product{{Code: "1gb", Name: "1GB", Amount: 1 * money.Naira, Fixed: true}},
	}}
	t := &till{company: id.Cuid(), Shop: vtu.New(vtu.Config{
		DB: d, Book: book, Clock: clk, Log: log, Operations: operations, Settlements: settlements,
		Billers: map[string]provider.Biller{"biller": sells}, Routes: vtu.Routes{}.Otherwise("biller"),
	})}
	ring, err := secret.Parse(secret.Generate())
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(err)
	t.keys = idempotency.NewService(d, book, clk, ring)
	ctx, me := b.Context(), operator.Local("bench")
	must(book.Commit(ctx, ledger.Found(t.company)))
	a, err := settlements.Create(ctx, me, t.company, "Main")
	must(err)
	must(settlements.Fund(ctx, me, t.company, a.ID, money.Max, "biller", "seed"))
	must(t.SyncDue(ctx))
	services, err := t.Services(ctx)
	must(err)
	categories, err := t.Categories(ctx, services[0].ID)
	must(err)
	products, err := t.Products(ctx, categories[0].ID)
	must(err)
	t.product = vtu.DataPurchase{
		Order: vtu.Order{Company: t.company, SettlementID: a.ID}, CategoryID: categories[0].ID, ProductID: products[0].ID, Phone: "08031234510",
	}
	return t
}

// buy makes one purchase. If keyed is true, the purchase has an Idempotency-Key, as over HTTP.
func (t *till) buy(ctx context.Context, keyed bool) error {
	order := t.product
	order.IdempotencyKey = id.New()
	answer := idempotency.Answer{Status: http.StatusOK, Body: []byte("{}")}
	if keyed {
		key, _, err := t.keys.Open(ctx, t.company, order.IdempotencyKey, "print")
		if err != nil {
			return err
		}
		key.Render(func(any, error) idempotency.Answer { return answer })
		order.Key = key
	}
	r, err := t.PurchaseData(ctx, order)
	if err == nil && r.Transaction.Status != vtu.Success {
		err = fmt.Errorf("the purchase is %s", r.Transaction.Status)
	}
	if err == nil && keyed {
		_, err = t.keys.Settle(ctx, order.Key, answer)
	}
	return err
}

// BenchmarkPurchase measures whole purchases at a biller that replies immediately: the intent, the
// call and the outcome. Run it with KOBO_TEST_DURABLE=1. Otherwise PostgreSQL does not wait for its
// disk.
func BenchmarkPurchase(b *testing.B) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, callers := range []int{1, 64} {
			for _, keyed := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/callers=%d/keyed=%v", dialect, callers, keyed), func(b *testing.B) {
					t := newTill(b, dialect)
					b.ReportAllocs()
					b.ResetTimer()
					var left atomic.Int64
					left.Store(int64(b.N))
					var all sync.WaitGroup
					for range callers {
						all.Go(func() {
							for left.Add(-1) >= 0 {
								if err := t.buy(b.Context(), keyed); err != nil {
									b.Error(err)
								}
							}
						})
					}
					all.Wait()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "purchases/s")
				})
			}
		}
	}
}
