package crypto_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// If a custodian is not configured any more, the custodian that has taken its network over is asked about its open transactions.
func TestTheCustodianOfTheNetworkIsAskedInstead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		w.chain("0x1", 100, 105)
		w.tell(moved(to, "0x1", 7, 100), moved(to, "0x2", 8, 100))
		w.want(a, "deposit pending 100, deposit pending 100", "deposit_pending deposit_pending")
		next := newCustodian()
		next.head, next.at["0x1"] = 140, w.node.at["0x1"]
		w.run(w.programWith(d, crypto.Custody{Name: "next", Plug: next, Networks: networks}))
		for range 4 { // the other one has not read the block of 0x2, so it may miss it
			w.later(10 * time.Minute)
		}
		w.want(a, "deposit completed 100, deposit failed 100", "deposit_pending deposit_pending deposit_completed deposit_failed")
	})
}

// An old subscription may report a network that a node reads now. The node lists the movements of the blocks since its beginning.
// A movement of an earlier block is taken from the vendor's report, and the node decides its outcome.
func TestAVendorReportsWhatTheNodeHasNotRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		to := w.address(a, eth)
		vendor := newCustodian()
		w.run(w.programWith(d,
			crypto.Custody{Name: "node", Plug: w.node, Networks: []string{eth}}, crypto.Custody{Name: "vendor", Plug: vendor, Networks: []string{tron}}))
		w.node.begin = 100
		report := func(movements ...provider.Movement) {
			t.Helper()
			body, err := json.Marshal(movements)
			if err == nil {
				err = w.Receive(t.Context(), "vendor", http.Header{"Signed": {"yes"}}, body)
			}
			if err != nil {
				t.Error(err)
			}
			w.settled()
		}
		w.chain("0x1", 99, 140)
		report(unhashed(moved(to, "0x1", 7, 99)), unhashed(moved(to, "0x2", 8, 100)), moved(to, "0x3", 9, 0))
		w.want(a, "deposit completed 99", "deposit_pending deposit_completed")
		w.chain("0x4", 101, 105)
		w.node.batches = []provider.Batch{{Movements: []provider.Movement{moved(to, "0x4", 6, 101)}}}
		w.read()
		report(unhashed(moved(to, "0x4", 6, 101)))
		w.want(a, "deposit completed 99, deposit pending 101", "deposit_pending deposit_completed deposit_pending")
		w.node.begin = 102 // a cursor of an earlier release has lost the first block
		report(unhashed(moved(to, "0x4", 6, 101)))
		w.node.batches = append(w.node.batches, provider.Batch{Gone: []string{"hash-101"}})
		w.read()
		w.chain("0x4", 0, 140)
		w.later(time.Hour)
		w.want(a, "deposit completed 99, deposit failed 101", "deposit_pending deposit_completed deposit_pending deposit_failed")
	})
}

// A custodian that takes a network over watches the addresses that were given out before, also one that the earlier custodian did
// not watch yet.
func TestAddressesAreWatchedByTheCustodianThatTakesOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		var all []crypto.Address
		for range 3 {
			all = append(all, w.address(a, eth), w.address(b, eth), w.address(a, tron))
		}
		w.later(time.Minute) // the jobs of the requests end
		w.node.away = true
		if _, err := w.Generate(t.Context(), crypto.Generation{Company: b, NetworkID: tron}); err == nil {
			t.Fatal("a custodian that is away watches an address")
		}
		if found, err := w.Rewatch(t.Context()); err != nil || found != 0 {
			t.Errorf("%d addresses of another custodian, %v", found, err)
		}
		next := newCustodian()
		w.run(w.programWith(d,
			crypto.Custody{Name: "node", Plug: w.node, Networks: []string{"polygon-amoy"}}, crypto.Custody{Name: "next", Plug: next, Networks: []string{eth, tron}}))
		if found, err := w.Rewatch(t.Context()); err != nil || found != 10 {
			t.Errorf("%d addresses of another custodian, %v", found, err)
		}
		if list, err := w.Addresses(t.Context(), a, eth); err != nil || len(list) != 3 {
			t.Errorf("in the meantime the list has %d addresses, %v", len(list), err)
		}
		w.later(time.Hour)
		for _, one := range all {
			if !next.watched[one.NetworkID+" "+one.Address] {
				t.Errorf("%s is not watched", one.Address)
			}
		}
		if list, err := w.Addresses(t.Context(), b, tron); err != nil || len(list) != 1 || len(next.watched) != 10 {
			t.Errorf("%+v %v, %d are watched", list, err, len(next.watched))
		}
		if found, err := w.Rewatch(t.Context()); err != nil || found != 0 {
			t.Errorf("%d addresses of another custodian afterwards, %v", found, err)
		}
	})
}
