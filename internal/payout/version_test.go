package payout_test

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
)

// ahead is a version that was made while the clock was some years ahead.
const ahead = "7fffffff-ffff-7abc-8abc-abcdefabcdef"

// Limits and fees were set while the clock was ahead. Those that are set after the clock was corrected are in force
// nevertheless, each time.
func TestTermsSetAfterTheClockWasCorrectedAreInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		set := func(n money.Kobo) {
			t.Helper()
			for _, account := range []int64{0, w.account} {
				must(t, w.SetLimit(t.Context(), me, w.company, account, payout.Limit{Amount: n, Payouts: int64(n)}))
			}
			must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: n}, {From: 1000, Flat: 2 * n}}))
		}
		set(1)
		for _, statement := range []string{`UPDATE payout_limit SET version = $1 WHERE company_id = $2`, `UPDATE payout_fee SET version = $1 WHERE company_id = $2`} {
			_, err := w.db.Exec(t.Context(), statement, ahead, w.company)
			must(t, err)
		}
		for n := money.Kobo(2); n < 5; n++ {
			set(n)
			for _, account := range []int64{0, w.account} {
				if l, err := w.Limit(t.Context(), w.company, account); err != nil || l.Amount != n || l.Payouts != int64(n) {
					t.Errorf("the limit of %d is %+v, %v; want %d", account, l, err, n)
				}
			}
			fees, err := w.Fees(t.Context(), w.company)
			if want := (payout.Schedule{{Flat: n}, {From: 1000, Flat: 2 * n}}); err != nil || !slices.Equal(fees, want) {
				t.Errorf("the fees are %v, %v; want %v", fees, err, want)
			}
		}
	})
}

// Operators set limits and fees at once. Each of them is done, and the last commit is in force.
func TestOfTermsSetAtOnceTheLastCommitIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		must(t, w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Payouts: 1}))
		must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: 1}}))
		var all sync.WaitGroup
		for n := range int64(20) {
			all.Go(func() {
				if err := w.SetLimit(t.Context(), me, w.company, 0, payout.Limit{Payouts: 100 + n}); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if err := w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: money.Kobo(100 + n)}}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		events, _, err := event.NewService(w.db, w.book).Feed(t.Context(), w.company, 0, 1000, 0)
		must(t, err)
		var limit struct{ Count int64 }
		var fees struct{ Bands []struct{ Flat money.Kobo } }
		told := map[string]int{}
		for _, e := range events {
			switch told[e.Kind]++; e.Kind {
			case event.LimitsChanged:
				must(t, json.Unmarshal(e.Data, &limit))
			case event.FeesChanged:
				must(t, json.Unmarshal(e.Data, &fees))
			}
		}
		if told[event.LimitsChanged] != 21 || told[event.FeesChanged] != 21 {
			t.Errorf("events %v", told)
		}
		if l, err := w.Limit(t.Context(), w.company, 0); err != nil || l.Payouts != limit.Count {
			t.Errorf("the limit is %+v, %v; the last event says %d", l, err, limit.Count)
		}
		if s, err := w.Fees(t.Context(), w.company); err != nil || len(s) != 1 || s[0].Flat != fees.Bands[0].Flat {
			t.Errorf("the fees are %v, %v; the last event says %+v", s, err, fees)
		}
	})
}
