package report_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// instant is a biller that confirms each purchase immediately.
type instant struct{ provider.Biller }

func (instant) Pay(_ context.Context, p provider.Purchase) provider.Answer {
	return provider.Answer{Outcome: provider.Confirmed, Reference: p.Reference}
}

// BenchmarkBesideAFlood measures the purchases of a polite company while twelve clients of another company
// with many rows repeat one request without a pause. The metric alone-p99-ms is that of the same purchases
// without the other company, measured just before. The ratio of both should stay below 2. Run it with
// -benchtime 500x.
func BenchmarkBesideAFlood(b *testing.B) {
	for _, rows := range []int{100_000, 1_000_000} {
		for _, dialect := range dbtest.Dialects {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, dialect), func(b *testing.B) {
				p := apptest.Start(b, dialect, func(c *app.Config) { c.Limits.Off = true },
					apptest.Around(func(of provider.Biller) provider.Biller { return instant{of} }))
				p.Altered = true
				a, err := p.App.Settlements.Create(b.Context(), me, p.Reference, "Many purchases")
				must(b, err)
				begun := p.App.Clock.Now().Add(-time.Duration(rows) * time.Second)
				must(b, purchased(db.WithLongTimeout(b.Context()), p.App.DB, p.Reference, a.ID, begun, rows))
				polite := p.Company(1_000_000_000 * money.Naira)
				flood := p.Company(1_000_000_000 * money.Naira)
				for name, path := range besides {
					path = strings.ReplaceAll(path, "ID", strconv.FormatInt(a.ID, 10))
					b.Run(name, func(b *testing.B) { beside(b, polite, p.Client, path) })
				}
				b.Run("purchases", func(b *testing.B) { beside(b, polite, flood, apptest.PurchaseData) })
			})
		}
	}
}

var besides = map[string]string{
	"list":        "/api/v1/vtu/transactions",
	"deep-page":   "/api/v1/vtu/transactions?page=900&pageSize=100",
	"by-type":     "/api/v1/vtu/transactions?type=DATA",
	"by-status":   "/api/v1/vtu/transactions?status=FAILED",
	"by-account":  "/api/v1/vtu/transactions?settlementId=ID",
	"credits":     "/api/v1/settlement/transaction/?type=credit",
	"statement":   "/api/v1/settlement/statement?settlementId=ID&format=csv",
	"one-account": "/api/v1/settlement/accounts",
	"integrity":   "/api/v1/integrity",
}

// beside measures b.N purchases of the polite company next to a flood of requests.
func beside(b *testing.B, polite, flood *apptest.Client, path string) {
	bundle := polite.Bundle()
	run := b.Name() + time.Now().Format(".000000")
	buy := func(c *apptest.Client, key string) (took time.Duration, status int) {
		begun := time.Now()
		a, err := c.Try(context.Background(), http.MethodPost, apptest.PurchaseData, c.Order(bundle, key, "10"))
		must(b, err)
		return time.Since(begun), a.Status
	}
	p99 := func(name string, n int, more func() bool) time.Duration {
		var times []time.Duration
		for i := 0; i < n || more != nil && more(); i++ {
			took, status := buy(polite, fmt.Sprint(run, name, i))
			if status != http.StatusOK {
				b.Fatalf("a purchase of the polite company: %d", status)
			}
			times = append(times, took)
		}
		slices.Sort(times)
		return times[len(times)*99/100]
	}
	alone := p99("alone", 500, nil)
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for i := range 12 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				var a apptest.Answer
				var err error
				if path == apptest.PurchaseData {
					a, err = flood.Try(ctx, http.MethodPost, path, flood.Order(bundle, fmt.Sprint(run, i, "-", n), "10"))
				} else {
					a, err = flood.Try(ctx, http.MethodGet, path, nil)
				}
				if err == nil {
					mu.Lock()
					answers[a.Status]++
					mu.Unlock()
				}
			}
		})
	}
	begun := time.Now()
	next := p99("beside", 0, b.Loop)
	took := time.Since(begun)
	stop()
	all.Wait()
	b.ReportMetric(float64(next)/1e6, "p99-ms")
	b.ReportMetric(float64(alone)/1e6, "alone-p99-ms")
	b.ReportMetric(float64(next)/float64(alone), "ratio")
	b.ReportMetric(float64(answers[http.StatusOK])/took.Seconds(), "flood/s")
	b.ReportMetric(float64(answers[http.StatusServiceUnavailable]), "503s")
}
