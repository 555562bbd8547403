package apptest_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// stuck is a biller whose replies to payments are lost. It replies to requeries (requests for the
// status) only after the test releases it.
type stuck struct {
	provider.Biller
	released chan struct{}
	asked    *atomic.Int64
}

func (s stuck) Pay(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Code: provider.CodeTimeout}
}

func (s stuck) Requery(context.Context, provider.Sale) provider.Answer {
	s.asked.Add(1)
	<-s.released
	return provider.Answer{Code: provider.CodeTimeout}
}

// While a biller does not reply to forty requeries, credits that arrive later are still booked. The
// requeries occupy only the number of workers that is allowed for one provider.
func TestASlowProviderDelaysNoCredit(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		released, asked := make(chan struct{}), &atomic.Int64{}
		p := apptest.Start(t, dialect, apptest.Around(func(b provider.Biller) provider.Biller { return stuck{b, released, asked} }))
		t.Cleanup(func() { close(released) })
		const sales = 40
		bundle := p.Bundle()
		for i := range sales {
			p.Buy(p.Order(bundle, fmt.Sprint("slow-", i), "00"))
		}
		before := p.Balance(p.SettlementID)
		now := p.App.Clock.(*clock.Movable)
		now.MoveTo(now.Offset() + time.Minute)
		pay(t, p.Client, p.SettlementAccountNumber, 5000, nil)
		holds(t, p, p.Client, before+5000*money.Naira)
		apptest.Eventually(t, func() string {
			if n, held := asked.Load(), leasedJobs(t, p); n != 4 || held != 4 {
				return fmt.Sprintf("%d questions are open, and %d leases", n, held)
			}
			return ""
		})
	})
}

// leasedJobs returns the number of operations with a running requery.
func leasedJobs(t *testing.T, p *apptest.Program) int64 {
	t.Helper()
	n, err := db.One(t.Context(), p.App.DB, db.Value[int64],
		`SELECT count(company_id) FROM job WHERE company_id = $1 AND kind = 'operation.resolve' AND fence > 0`, p.Reference)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
