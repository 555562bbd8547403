package crypto_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/crypto"
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
		w.tell(unhashed(moved(to, "0x1", 7, 100)))
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
		w.tell(unhashed(moved(to, "0x1", 7, 100)))
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

// While the custodian is asked, a report may name the block in which the transaction is now. A verdict about the earlier row
// must not be written over this report, or the deposit would have failed for good.
func TestAVerdictIsAboutTheRowThatWasRead(t *testing.T) {
	for name, prepare := range map[string]func(w *world, to crypto.Address){
		"missed three times": func(w *world, to crypto.Address) {
			w.tell(unhashed(moved(to, "0x1", 7, 100)))
			w.later(9 * time.Minute)
		},
		"its block was removed": func(w *world, to crypto.Address) {
			w.chain("0x1", 100, 105)
			w.node.batches = []provider.Batch{{Movements: []provider.Movement{moved(to, "0x1", 7, 100)}}, {Gone: []string{"hash-100"}}}
			w.read()
			w.chain("0x1", 0, 140)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				to := w.address(a, eth)
				w.node.head = 140
				prepare(w, to)
				w.want(a, "deposit pending 100", "deposit_pending")
				w.inTheMeantime(func() {
					w.chain("0x1", 130, 140)
					w.notify(moved(to, "0x1", 7, 130))
				})
				for range 3 {
					w.later(5 * time.Minute)
				}
				w.want(a, "deposit pending 130", "deposit_pending")
				w.chain("0x1", 130, 150)
				w.later(time.Hour)
				w.want(a, "deposit completed 130", "deposit_pending deposit_completed")
			})
		})
	}
}

// A program that stood still may read the row of a transaction in a removed block, and act on it after a different program has
// recorded the transaction's new block. It must not take the new block away.
func TestALossIsAboutTheRowThatWasRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 105)
		w.tell(moved(to, "0x1", 7, 100))
		before := w.latest(a)
		w.chain("0x1", 101, 106)
		w.node.batches = []provider.Batch{{Gone: []string{"hash-100"}, Movements: []provider.Movement{moved(to, "0x1", 7, 101)}}}
		w.read()
		if err := w.Lose(t.Context(), before, provider.Batch{Gone: []string{"hash-100"}}); err != nil {
			t.Error(err)
		}
		w.chain("0x1", 101, 150)
		w.later(time.Hour)
		w.want(a, "deposit completed 101", "deposit_pending deposit_completed")
	})
}

// A report may change the row of a transaction whose block is removed, and not its block. The transaction is lost all the same.
func TestALossIsWrittenOverAnOlderRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 105)
		w.tell(moved(to, "0x1", 7, 101))
		before := w.latest(a)
		w.tell(moved(to, "0x1", 7, 100))
		w.chain("0x1", 0, 140)
		if err := w.Lose(t.Context(), before, provider.Batch{Gone: []string{"hash-100", "hash-101"}}); err != nil {
			t.Error(err)
		}
		w.settled()
		w.later(2 * time.Minute)
		w.want(a, "deposit failed 100", "deposit_pending deposit_failed")
	})
}
