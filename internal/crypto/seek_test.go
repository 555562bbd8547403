package crypto_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// fails records a deposit of a vendor's report that fails because the vendor does not find its transaction.
func (w *world) fails() provider.Movement {
	w.t.Helper()
	m := unhashed(moved(w.address(a, eth), "0x1", 7, 100))
	w.node.head = 140
	w.tell(m)
	w.later(5 * time.Minute)
	w.later(5 * time.Minute)
	w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
	return m
}

// A node's look-up may lack a transaction whose block the same node has read, for example behind a load balancer. The deposit
// waits, because the node tells of each block that is removed.
func TestANodeDoesNotMissWhatItHasRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		m := moved(w.address(a, eth), "0x1", 7, 100)
		w.node.head = 140
		w.node.batches = []provider.Batch{{Movements: []provider.Movement{m}}}
		w.read()
		for range 6 {
			w.later(10 * time.Minute)
		}
		w.want(a, "deposit pending 100", "deposit_pending")
		w.chain("0x1", 100, 140)
		w.later(time.Hour)
		w.want(a, "deposit completed 100", "deposit_pending deposit_completed")
	})
}

// A deposit that has failed because the custodian did not find it is looked for after an hour and after a day. If it is there,
// it is a new deposit.
func TestAFailedDepositIsLookedForAgain(t *testing.T) {
	for name, c := range map[string]struct{ absent, then time.Duration }{
		"after an hour": {0, time.Hour},
		"after a day":   {2 * time.Hour, 22 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				w.fails()
				w.later(c.absent)
				w.chain("0x1", 101, 105)
				w.later(c.then)
				w.want(a, "deposit failed 100, deposit pending 101", "deposit_pending deposit_failed deposit_pending")
				w.chain("0x1", 101, 140)
				w.later(time.Hour)
				w.later(48 * time.Hour)
				w.want(a, "deposit failed 100, deposit completed 101", "deposit_pending deposit_failed deposit_pending deposit_completed")
			})
		})
	}
}

// A deposit that is never found, or that had no effect, stays failed. After a day nobody asks about it any more.
func TestAFailedDepositThatIsNotThereStaysFailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		m := w.fails()
		w.node.at["0x1"] = provider.Inclusion{Found: true, Reverted: true, Block: 100}
		w.tell(m)
		w.later(time.Hour)
		w.chain("0x1", 0, 140)
		w.later(23 * time.Hour)
		left, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM job WHERE kind = 'crypto.confirm'`)
		if err != nil || left != 0 {
			t.Errorf("%d jobs are left, %v", left, err)
		}
		w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
	})
}

// A later report of the same block makes Kobo ask again at once, also after the last look.
func TestAReportOfAFailedDepositIsLookedInto(t *testing.T) {
	for name, pause := range map[string]time.Duration{"before the next look": time.Minute, "after the last look": 48 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				m := w.fails()
				w.later(pause)
				w.tell(m) // the custodian still does not find it
				w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
				w.chain("0x1", 100, 140)
				w.tell(m, m)
				w.later(time.Minute)
				w.want(a, "deposit failed 100, deposit completed 100", "deposit_pending deposit_failed deposit_pending deposit_completed")
			})
		})
	}
}

// A list of failed notifications may name two blocks of a dropped transaction, and does so at each read for a week. The deposit fails
// once, and does not begin again.
func TestOldReportsBeginNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.node.head = 140
		listed := func(block int64, at time.Time) provider.Movement {
			m := unhashed(moved(to, "0x1", 7, block))
			m.ListedAt = at
			return m
		}
		old := provider.Batch{Movements: []provider.Movement{listed(100, zero.Add(-time.Minute)), listed(99, zero.Add(-2*time.Minute))}}
		for range 6 { // a read every five minutes
			w.node.batches = append(w.node.batches, old)
			w.read()
			w.later(5 * time.Minute)
		}
		w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
		for range 30 {
			w.node.batches = append(w.node.batches, old)
			w.read()
			w.later(time.Hour)
		}
		w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
		// A report that was sent after the failure counts.
		w.node.batches = append(w.node.batches, provider.Batch{Movements: []provider.Movement{listed(130, w.clock.Now()), listed(100, zero)}})
		w.chain("0x1", 130, 150)
		w.read()
		w.later(time.Hour)
		w.want(a, "deposit failed 100, deposit completed 130", "deposit_pending deposit_failed deposit_pending deposit_completed")
	})
}

// The notification of the mempool may have arrived, and that of the block may have failed. The block counts, although the deposit has
// changed meanwhile.
func TestAListedBlockCountsIfNoneIsKnown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.tell(moved(to, "0x1", 7, 0))
		w.later(time.Minute)
		m := unhashed(moved(to, "0x1", 7, 99))
		m.ListedAt = zero.Add(-time.Second)
		w.node.batches = []provider.Batch{{Movements: []provider.Movement{m}}}
		w.chain("0x1", 99, 100)
		w.read()
		w.want(a, "deposit pending 99", "deposit_pending")
	})
}
