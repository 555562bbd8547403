package apptest_test

import (
	"net/http"
	"strings"
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
		for range 5 { // a run adds up for a second, and on a slow machine several are needed
			p.Advance(31 * time.Second)
		}
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

// The story of a payout begins with the request that has begun it. A refused request, and a repeated one, begin
// nothing.
func TestAPaymentKnowsItsRequest(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		reference := verify(t, p.Client, "10")
		send(p.Client, reference, 2_000_000_000).Want(t, http.StatusBadRequest)
		send(p.Client, reference, 1000).Want(t, http.StatusOK)
		send(p.Client, reference, 1000)
		var asked []string
		wait := time.After(time.Minute) // the log is written behind the requests, by the time of the machine
		for len(asked) == 0 {
			y, err := p.App.Reports.Timeline(t.Context(), reference)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range y.Steps {
				if s.What == "request" {
					asked = append(asked, s.Text)
				}
			}
			select {
			case <-wait:
				t.Fatal("the story does not name the request")
			case <-time.Tick(50 * time.Millisecond):
			}
		}
		if len(asked) != 1 || !strings.HasPrefix(asked[0], "API key …") || !strings.Contains(asked[0], " from 127.0.0.1: POST /api/v1/settlement/send-payout, request ") || !strings.Contains(asked[0], "answered 200 after ") {
			t.Errorf("%q", asked)
		}
	})
}
