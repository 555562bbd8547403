package payout_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
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

// between is a clock that runs a function once, in the middle of a change: the highest version is read, and nothing is
// committed yet.
type between struct {
	clock.Clock
	run func()
}

func (b *between) Now() time.Time {
	if run := b.run; run != nil {
		b.run = nil
		run()
	}
	return b.Clock.Now()
}

// Of terms that two operators set at once, the later commit is in force. The version of the later one was chosen first.
func TestOfTermsSetAtOnceTheLaterCommitIsInForce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		now := &between{Clock: w.clock}
		w.Clock = now
		for n := range money.Kobo(3) {
			limit, fees := payout.Limit{Amount: 10 + n}, payout.Schedule{{Flat: 20 + n}}
			now.run = func() { must(t, w.SetLimit(t.Context(), me, w.company, w.account, payout.Limit{Amount: 1000 + n})) }
			must(t, w.SetLimit(t.Context(), me, w.company, w.account, limit))
			now.run = func() { must(t, w.SetFees(t.Context(), me, w.company, payout.Schedule{{Flat: 2000 + n}})) }
			must(t, w.SetFees(t.Context(), me, w.company, fees))
			if l, err := w.Limit(t.Context(), w.company, w.account); err != nil || l.Amount != limit.Amount {
				t.Errorf("the limit is %+v, %v; want %s", l, err, limit.Amount)
			}
			if s, err := w.Fees(t.Context(), w.company); err != nil || !slices.Equal(s, fees) {
				t.Errorf("the fees are %v, %v; want %v", s, err, fees)
			}
		}
	})
}
