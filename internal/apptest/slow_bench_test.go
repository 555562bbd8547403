package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// lateBiller is a biller whose replies to payments are lost, and whose replies to requeries
// (requests for the status) are slow.
type lateBiller struct {
	provider.Biller
	takes time.Duration
}

func (lateBiller) Pay(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Code: provider.CodeTimeout}
}

func (l lateBiller) Requery(ctx context.Context, _ provider.Sale) provider.Answer {
	select {
	case <-ctx.Done():
	case <-time.After(l.takes):
	}
	return provider.Answer{Code: provider.CodeTimeout}
}

// BenchmarkCreditBesideSlowProviders measures the time from the notification of a credit to the
// credit's commit. One biller is down, the second biller replies after 13 seconds, and each has 160
// open sales. Twenty credits arrive each second. In the second run the first biller has 30,000 more
// open sales.
func BenchmarkCreditBesideSlowProviders(b *testing.B) {
	for _, backlog := range []int{0, 30_000} {
		b.Run(fmt.Sprintf("backlog=%d", backlog), func(b *testing.B) {
			for _, dialect := range dbtest.Dialects {
				b.Run(string(dialect), func(b *testing.B) { creditsBesideSlowProviders(b, dialect, backlog) })
			}
		})
	}
}

func creditsBesideSlowProviders(b *testing.B, dialect db.Dialect, backlog int) {
	p := apptest.Start(b, dialect, apptest.Window(20*time.Second),
		func(c *app.Config) { c.VTU.Routes = "DATA/GLO=vtpass" },
		apptest.Around(func(of provider.Biller) provider.Biller {
			if of.Name() == "Safe Haven" {
				return lateBiller{of, time.Hour}
			}
			return lateBiller{of, 13 * time.Second}
		}))
	openSales(b, p, 160)
	_, err := p.App.DB.Exec(b.Context(), `INSERT INTO job (company_id, kind, subject, id, run_at, lease_until, fence, attempts, last_error, created_at, provider)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		SELECT $2, 'operation.resolve', 'more-' || i, 'more-' || i, CAST($3 AS BIGINT) + i, 0, 0, 0, '', 0, 'safehaven' FROM n WHERE $1 > 0`,
		int64(backlog), p.Reference, clock.Micros(p.App.Clock.Now().Add(30*time.Second)))
	if err == nil {
		// A PostgreSQL server normally analyses a changed table within a minute, but the server of the
		// tests does not.
		_, err = p.App.DB.Exec(b.Context(), `ANALYZE job`)
	}
	if err != nil {
		b.Fatal(err)
	}
	now := p.App.Clock.(*clock.Movable)
	now.MoveTo(now.Offset() + time.Minute)
	var times []int64
	pace := time.NewTicker(time.Second / 20)
	defer pace.Stop()
	for b.Loop() {
		<-pace.C
		session := paidIn(b, p)
		body := fmt.Sprintf(`{"type":"transfer","data":{"type":"Inwards","sessionId":%q,"creditAccountNumber":%q,"amount":100,"status":"Completed"}}`,
			session, p.SettlementAccountNumber)
		if a, err := p.Raw(b.Context(), http.MethodPost, p.App.Inbox.Path("safehaven"), body); err != nil || a.Status != http.StatusOK {
			b.Fatalf("%s, %v", a, err)
		}
	}
	apptest.Eventually(b, func() string {
		times, err = db.All(b.Context(), p.App.DB, db.Value[int64], `SELECT worked_at - received_at FROM inbox_notification
			WHERE company_id = 'house' AND state = 'WORKED' ORDER BY 1`)
		if err != nil || len(times) < b.N {
			return fmt.Sprintf("%d credits of %d are worked, %v", len(times), b.N, err)
		}
		return ""
	})
	b.ReportMetric(float64(times[len(times)/2])/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100])/1000, "p99-ms")
	b.ReportMetric(float64(times[len(times)-1])/1000, "max-ms")
}

// openSales makes sales of unknown outcome at two billers.
func openSales(b *testing.B, p *apptest.Program, each int) {
	b.Helper()
	var bundles []apptest.Bundle
	for _, one := range p.Bundles() {
		if !slices.ContainsFunc(bundles, func(o apptest.Bundle) bool { return o.Category == one.Category }) {
			bundles = append(bundles, one)
		}
	}
	sold := map[string]int{}
	for i := 0; len(sold) < 2 || sold["safehaven"] < each || sold["vtpass"] < each; i++ {
		p.Buy(p.Order(bundles[i%len(bundles)], fmt.Sprint("open-", i), "00"))
		of, err := db.One(b.Context(), p.App.DB, db.Value[string],
			`SELECT provider FROM operation WHERE company_id = $1 ORDER BY id DESC LIMIT 1`, p.Reference)
		if err != nil || i > 20*each {
			b.Fatalf("%d sales, %+v: %v", i, sold, err)
		}
		sold[of]++
	}
}

// paidIn makes a credit without a notification, and returns the session ID.
func paidIn(b *testing.B, p *apptest.Program) string {
	b.Helper()
	a, err := p.Raw(b.Context(), http.MethodPost, "/sandbox/credit", map[string]any{
		"accountNumber": p.SettlementAccountNumber, "amount": 100, "senderName": "BOLA SAMPLE", "silent": true,
	})
	if err != nil {
		b.Fatal(err)
	}
	var said struct{ Data struct{ SessionID string } }
	a.Want(b, http.StatusOK).Into(b, &said)
	return said.Data.SessionID
}
