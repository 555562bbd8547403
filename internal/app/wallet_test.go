package app

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// The bank, the biller and the issuer report the balance of our account. A custodian has none. While a
// provider does not report the balance, operators see the last one with its time.
func TestTheBalanceOfEachProviderIsRead(t *testing.T) {
	a, _, err := OpenDev(t.Context(), DevConfig(t.TempDir(), ""), false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := a.program().Wallets(); len(got) != 0 {
		t.Errorf("before the first question: %v", got)
	}
	if err := a.wallets.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := a.program().Wallets()
	if names := slices.Sorted(maps.Keys(read)); !slices.Equal(names, []string{"safehaven", "sudo", "vtpass"}) {
		t.Errorf("balances of %q", names)
	}
	for name, r := range read {
		if r.Balance <= 0 || r.At.IsZero() {
			t.Errorf("%s: %+v", name, r)
		}
	}
	_ = a.sandbox.server.Close() // the test needs no provider from now on
	a.sandbox.clock.MoveTo(time.Hour)
	err = a.wallets.Ask(t.Context())
	for name := range read {
		if err == nil || !strings.Contains(err.Error(), "the wallet at "+name) {
			t.Errorf("%s is away: %v", name, err)
		}
	}
	if again := a.program().Wallets(); !maps.Equal(again, read) {
		t.Errorf("%v, not %v", again, read)
	}
}
