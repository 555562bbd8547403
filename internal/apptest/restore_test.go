package apptest_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// deaf is a biller that receives no order. Every request to it times out.
type deaf struct{ provider.Biller }

func (deaf) Pay(context.Context, provider.Purchase) provider.Answer {
	return provider.Answer{Code: provider.CodeTimeout}
}

// A purchase of unknown outcome has no job, because the job was lost. When the next program starts,
// it creates the job again. The job polls the biller until the outcome is known.
func TestALostJobIsRestoredAtTheStart(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		first := apptest.Start(t, dialect, apptest.Around(func(b provider.Biller) provider.Biller { return deaf{b} }))
		bought := first.Bought(first.Buy(first.Order(first.Bundle(), "lost", "00")))
		n, err := first.App.DB.Exec(t.Context(), `DELETE FROM job WHERE company_id = $1 AND subject = $2`, first.Reference, bought.TransactionID)
		if err != nil || n != 1 || bought.Status != "PENDING" {
			t.Fatalf("%d jobs deleted, %v; the purchase: %+v", n, err, bought)
		}
		first.Altered = true
		first.Stop()
		second := first.Home.Start(t)
		apptest.Eventually(t, func() string {
			n, err := db.One(t.Context(), second.App.DB, db.Value[int64],
				`SELECT count(company_id) FROM job WHERE company_id = $1 AND subject = $2`, second.Reference, bought.TransactionID)
			if err != nil || n != 1 {
				return "the job is not there"
			}
			return ""
		})
		for range 3 {
			second.Advance(10 * time.Minute)
		}
		apptest.Eventually(t, func() string {
			if now := second.Transaction(bought.TransactionID); now.Status != "FAILED" || !now.Refunded {
				return "the purchase is " + now.Status
			}
			return ""
		})
	})
}
