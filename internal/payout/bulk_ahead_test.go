package payout_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
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

// A line of a bulk payout that was confirmed while the clock was ahead is sent after the clock is right again, and its answer is lost. Its
// grace begins with the call. If the bank does not know the line, it is refunded after a quarter of an hour. If that proves nothing, one
// case asks the operators, who can decide it.
func TestALineOfAClockAheadIsFollowedFromItsCall(t *testing.T) {
	for name, proves := range map[string]bool{"an absence": true, "an unproven absence": false} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				later := unseen
				later.Unproven = !proves
				w.bank.says(silence, later)
				var wrong clock.Movable
				wrong.MoveTo(10 * 24 * time.Hour)
				w.Clock = &wrong
				b := w.bulkOf("0000000001")
				w.check(b.ID)
				_, err := w.confirm(b.ID)
				must(t, err)
				w.Clock = w.clock
				w.push(b.ID)
				reference := string(w.page(b.ID).Page[0].Reference)
				for range 8 {
					w.forward(90 * time.Second)
					w.poll(reference)
				}
				if p := w.page(b.ID); p.Pending != 1 {
					t.Fatalf("after 12 minutes: %+v", p)
				}
				for range 4 {
					w.forward(90 * time.Second)
					w.poll(reference)
				}
				w.push(b.ID)
				cases := func() []operation.Case {
					list, _, err := w.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Company: w.company}, 10, 0)
					must(t, err)
					return list
				}
				if p := w.page(b.ID); proves && (p.State != payout.BulkCompleted || p.Failed != 1 || len(cases()) > 0) {
					t.Fatalf("after 18 minutes: %+v, cases %+v", p, cases())
				}
				for range 3 {
					w.forward(2 * time.Hour)
					w.poll(reference)
				}
				if list := cases(); !proves {
					if p := w.page(b.ID); p.Pending != 1 || len(list) != 1 || list[0].Reason != operation.Unresolved {
						t.Fatalf("%+v, cases %+v", p, list)
					}
					for _, by := range []string{"ada", "bola"} {
						_, err := w.operations.ResolveCase(t.Context(), list[0].ID, operation.Finding{Outcome: operation.FoundRejected}, "asked the bank", by, me.Note)
						must(t, err)
					}
				}
				w.push(b.ID)
				if p := w.page(b.ID); p.State != payout.BulkCompleted || p.Failed != 1 || len(w.references()) != 1 {
					t.Errorf("%+v", p)
				}
				w.holds(map[string]money.Kobo{w.own(): 1000 * money.Naira})
			})
		})
	}
}
