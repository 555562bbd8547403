package crypto_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/secret"
)

// If two programs handle many concurrent requests, each derivation index is used exactly once and
// without a gap. Each address is derived from its index.
func TestAnIndexIsTakenOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		programs := []*crypto.Service{w.Service, w.program(d)}
		const each = 15
		var all sync.WaitGroup
		got := make([]crypto.Address, 2*each)
		errs := make([]error, 2*each)
		for i := range got {
			all.Go(func() {
				network := []string{eth, "polygon-amoy"}[i/2%2] // both networks are EVM and share the company's key
				got[i], errs[i] = programs[i%2].Generate(t.Context(), crypto.Generation{Company: a, NetworkID: network})
			})
		}
		all.Wait()
		keys, err := w.Keys(t.Context(), a)
		if err != nil || len(keys) != 1 {
			t.Fatalf("%v %v", keys, err)
		}
		index, address := map[int64]bool{}, map[string]bool{}
		for i, one := range got {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			index[one.Index], address[one.Address] = true, true
			if want, _ := keys[0].Public.Address(chain.Testnets()[0], one.Index); one.Address != want {
				t.Errorf("%d is %s, want %s", one.Index, one.Address, want)
			}
		}
		for i := range int64(2 * each) {
			if !index[i] {
				t.Errorf("nobody has the index %d", i)
			}
		}
		list, err := w.Addresses(t.Context(), a, eth)
		other, err2 := w.Addresses(t.Context(), a, "polygon-amoy")
		if err != nil || err2 != nil || len(list)+len(other) != 2*each || len(address) != 2*each || list[0].Name != "Ethereum Sepolia" {
			t.Errorf("%d and %d on the lists, %d addresses: %v %v", len(list), len(other), len(address), err, err2)
		}
	})
}

// Companies without a key get different child keys of the fintech's key. The first company gets
// child 0, which wallets use by default.
func TestCompaniesNeverShareAnAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		first, second := w.address(a, eth), w.address(b, eth)
		if first.Address != "0x9858EfFD232B4033E47d90003D41EC34EcaEda94" || second.Address == first.Address || first.Index != 0 || second.Index != 0 {
			t.Errorf("%+v and %+v", first, second)
		}
		if got := w.address(a, tron); got.Address != "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH" || got.Index != 0 {
			t.Errorf("another kind of network has another key: %+v", got)
		}
		_, err := w.Generate(t.Context(), crypto.Generation{Company: a, NetworkID: "bitcoin-testnet"})
		if !fault.Is(err, fault.Refused) {
			t.Errorf("no key at all: %v", err)
		}
	})
}

const (
	ownKey    = "xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj"
	publicKey = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
)

func TestAKeyIsOneCompanys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		before := w.address(a, eth)
		key, first, err := w.SetKey(t.Context(), me, a, chain.EVM, ownKey)
		if err != nil || key.Version != 2 {
			t.Fatalf("%+v %v", key, err)
		}
		after := w.address(a, eth)
		if after.Address != first || after.Index != 0 || after.Address == before.Address {
			t.Errorf("from the new key: %+v, want %s", after, first)
		}
		if again, _, err := w.SetKey(t.Context(), me, a, chain.EVM, ownKey); err != nil || again.Version != 2 {
			t.Errorf("the same key again: %+v %v", again, err)
		}
		for _, c := range []struct {
			company string
			kind    chain.Kind
			text    string
			want    fault.Kind
		}{
			{b, chain.EVM, ownKey, fault.Refused},
			{b, chain.Tron, key.Public.String(), fault.Refused}, // the same key again, in the form of its external chain's key
			{b, chain.Bitcoin, publicKey, fault.Refused},        // a key whose private key is published
			{b, chain.EVM, "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U", fault.Invalid},
			{b, "dogecoin", ownKey, fault.Invalid},
			{"cnobody", chain.EVM, "xpub6CUGRUonZSQ4TWtTMmzXdrXDtypWKiKrhko4egpiMZbpiaQL2jkwSB1icqYh2cfDfVxdx4df189oLKnC5fSwqPfgyP3hooxujYzAu3fDVmz", fault.Missing},
		} {
			_, _, err := w.SetKey(t.Context(), me, c.company, c.kind, c.text)
			if !fault.Is(err, c.want) {
				t.Errorf("%s %s %.12s: %v", c.company, c.kind, c.text, err)
			}
			if err != nil && strings.Contains(err.Error(), "xprv") {
				t.Errorf("the refusal quotes the key: %v", err)
			}
		}
		if list, err := w.Keys(t.Context(), a); err != nil || len(list) != 2 || list[0].Version != 2 || list[1].Source != "house" {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// An address is hidden until the custodian watches it. If the first request to the custodian fails,
// a job asks the custodian again.
func TestAnAddressIsShownOnceItIsWatched(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.node.away = true
		_, err := w.Generate(t.Context(), crypto.Generation{Company: a, NetworkID: eth, Label: "first"})
		if !fault.Is(err, fault.Unavailable) {
			t.Fatalf("%v", err)
		}
		if list, _ := w.Addresses(t.Context(), a, eth); len(list) != 0 {
			t.Errorf("shown: %+v", list)
		}
		w.node.mu.Lock()
		w.node.away = false
		w.node.mu.Unlock()
		w.later(time.Minute)
		list, err := w.Addresses(t.Context(), a, eth)
		if err != nil || len(list) != 1 || list[0].Label != "first" || !w.node.watched[eth+" "+list[0].Address] {
			t.Errorf("%+v %v", list, err)
		}
		if second := w.address(a, eth); second.Index != 1 {
			t.Errorf("an index is used again: %+v", second)
		}
	})
}

// If a request stops after it has taken a derivation index, its retry returns the address of the
// same index.
func TestAResumedRequestMakesNoOtherAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		keys := idempotency.NewService(d, w.book, w.clock, ring)
		open := func() (*idempotency.Key, *idempotency.Answer) {
			t.Helper()
			k, answer, err := keys.Open(t.Context(), a, "key-1", "print")
			if err != nil {
				t.Fatal(err)
			}
			k.Render(func(result any, err error) idempotency.Answer {
				if err != nil {
					return idempotency.Answer{Status: 503}
				}
				return idempotency.Answer{Status: 200, Body: []byte(result.(crypto.Address).Address)}
			})
			return k, answer
		}
		w.node.away = true
		k, _ := open()
		if _, err := w.Generate(t.Context(), crypto.Generation{Company: a, NetworkID: eth, Key: k}); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		w.node.mu.Lock()
		w.node.away = false
		w.node.mu.Unlock()
		w.later(time.Minute) // the job runs before the second request
		k, answer := open()
		if answer != nil || k.Subject() == "" {
			t.Fatalf("%v %q", answer, k.Subject())
		}
		got, err := w.Resume(t.Context(), a, k.Subject(), k)
		if err != nil || got.Index != 0 || got.Name == "" {
			t.Errorf("%+v %v", got, err)
		}
		if _, answer = open(); answer == nil || string(answer.Body) != got.Address {
			t.Errorf("the answer is not kept: %v", answer)
		}
		if list, _ := w.Addresses(t.Context(), a, eth); len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
}

func TestNetworksThatAreNone(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	w := newWorld(t, d)
	for network, want := range map[string]string{"nothing": "Network not found.", "": "Network not found.", "bsc-testnet": "Network is not active"} {
		_, err := w.Generate(t.Context(), crypto.Generation{Company: a, NetworkID: network})
		if err == nil || fault.Of(err).Message != want {
			t.Errorf("%q: %v", network, err)
		}
	}
	if _, err := w.Addresses(t.Context(), a, "nothing"); !fault.Is(err, fault.Missing) {
		t.Errorf("%v", err)
	}
	active := map[string]bool{}
	for _, n := range w.ListNetworks() {
		active[n.ID] = !n.Inactive
	}
	if !active[eth] || active["bsc-testnet"] || len(active) != len(chain.Testnets()) {
		t.Errorf("%v", active)
	}
}
