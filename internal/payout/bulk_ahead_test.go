package payout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
)

// A company confirms a bulk payout while the clock is ten days ahead, and the clock is set right after a part was sent. The rest is
// sent at once, and no sooner than the bank has told the names again, because nobody knows how old they are.
func TestABulkPayoutOfAClockAheadGoesOn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var wrong clock.Movable
		wrong.MoveTo(10 * 24 * time.Hour)
		lines := make([]payout.LineOrder, 203)
		for i := range lines {
			lines[i] = payout.LineOrder{BankCode: "000014", AccountNumber: fmt.Sprintf("%08d00", i), Amount: money.Naira}
		}
		w.Clock = &wrong
		b := w.bulk(lines)
		for range 2 {
			w.check(b.ID)
		}
		_, err := w.confirm(b.ID)
		must(t, err)
		w.push(b.ID)
		if n := len(w.references()); n != 200 {
			t.Fatalf("the bank got %d orders", n)
		}

		w.Clock = w.clock
		must(t, job.Recover(t.Context(), w.db, w.clock.Now(), payout.BulkSendJob))
		due, err := db.One(t.Context(), w.db, db.Value[int64], `SELECT count(*) FROM job WHERE company_id = $1 AND kind = $2 AND subject = $3 AND run_at <= $4`,
			w.company, payout.BulkSendJob, b.ID, clock.Micros(w.clock.Now()))
		if err != nil || due != 1 {
			t.Fatalf("%d jobs are due, %v", due, err)
		}
		asked := w.bank.requests
		for range 2 {
			w.push(b.ID)
		}
		if p := w.page(b.ID); p.State != payout.BulkCompleted || p.Succeeded != 203 || len(w.references()) != 203 || w.bank.requests != asked+3 {
			t.Errorf("%+v, and %d enquiries", p.Bulk, w.bank.requests-asked)
		}
		w.holds(map[string]money.Kobo{w.own(): 797 * money.Naira})
	})
}
