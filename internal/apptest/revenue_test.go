package apptest_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The days of revenue add up to the balances of the fees and of the bank's charges, after a day with every
// kind of outcome.
func TestTheDaysOfRevenueAddUpToTheLedger(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		charge(t, p)
		_, charges := eventfulDay(t, p)
		p.Advance(31 * time.Second)
		now := p.App.Clock.Now().In(clock.Lagos)
		to := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, clock.Lagos)
		r, err := p.App.Reports.Revenue(t.Context(), p.Reference, to.AddDate(0, 0, -30), to)
		if err != nil {
			t.Fatal(err)
		}
		fees, err := p.App.Book.Balance(t.Context(), p.Reference, settlement.FeeAccount)
		if err != nil || fees == 0 || r.Total.Fees != fees || r.Total.FeeCount != int64(fees/(110*money.Naira)) {
			t.Errorf("%d fees of %s, and the account has %s: %v", r.Total.FeeCount, r.Total.Fees, fees, err)
		}
		if charges == 0 || r.Total.Cost != charges || r.ReadAt.IsZero() {
			t.Errorf("the cost is %s, not %s, at %s", r.Total.Cost, charges, r.ReadAt)
		}
	})
}
