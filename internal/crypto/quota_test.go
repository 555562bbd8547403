package crypto_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/quota"
)

// The quota counts a company's addresses on all networks together. A refused request does not use
// up a derivation index.
func TestTheQuotaOfAddresses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		if err := quota.New(d, w.book, w.clock).Set(t.Context(), operator.Local("test"), a, quota.CryptoAddress, 2); err != nil {
			t.Fatal(err)
		}
		w.address(a, eth)
		w.address(a, tron)
		_, err := w.Generate(t.Context(), crypto.Generation{Company: a, NetworkID: eth})
		f := fault.Of(err)
		if f == nil || f.Kind != fault.Limited || f.Message != "Daily limit of 2 crypto addresses reached" || f.Retry <= 0 {
			t.Fatalf("the third: %v", err)
		}
		if list, err := w.Addresses(t.Context(), a, eth); err != nil || len(list) != 1 {
			t.Errorf("%+v %v", list, err)
		}
		w.address(b, eth)
		w.clock.Advance(f.Retry)
		if next := w.address(a, eth); next.Index != 1 {
			t.Errorf("a refused request took an index: %+v", next)
		}
	})
}
