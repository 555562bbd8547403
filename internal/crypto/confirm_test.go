package crypto_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A node that was restarted, or that still reads the chain, may be behind the transaction's block. It
// cannot know the transaction. So a deposit does not fail, and a completed one does not become a case.
func TestANodeBehindTheBlockDoesNotMissADeposit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 105)
		w.tell(moved(to, "0x1", 7, 100))
		w.chain("0x1", 0, 99)
		for range 6 {
			w.later(5 * time.Minute)
		}
		w.want(a, "deposit pending 100", "deposit_pending")
		w.chain("0x1", 100, 140)
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
		w.chain("0x1", 0, 99)
		w.node.batches = []provider.Batch{{Gone: []string{"hash-100"}}}
		w.read()
		for range 6 {
			w.later(5 * time.Minute)
		}
		if cases := w.open(a); len(cases) != 0 {
			t.Errorf("the cases are %q", cases)
		}
	})
}

// A transaction fails after ten minutes without it. The minutes begin with the first miss, and begin
// again after the custodian has found the transaction.
func TestMissesCountFromTheFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 105)
		w.tell(moved(to, "0x1", 7, 100))
		w.later(time.Hour)
		w.chain("0x1", 0, 105)
		for range 3 {
			w.later(time.Minute)
		}
		w.want(a, "deposit pending 100", "deposit_pending")
		w.chain("0x1", 100, 106)
		w.later(time.Minute)
		w.chain("0x1", 0, 106)
		for _, pause := range []time.Duration{time.Minute, 5 * time.Minute, 4 * time.Minute} {
			w.later(pause)
		}
		w.want(a, "deposit pending 100", "deposit_pending")
		w.later(time.Minute)
		w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
	})
}
