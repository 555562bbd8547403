package sandbox

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

func open(t *testing.T, cfg Config) *Sandbox {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "sandbox.db")
	}
	s, err := Open(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// plug is Safe Haven's plug as a client of s through a wire.
func plug(t *testing.T, s *Sandbox, clk clock.Clock) (*safehaven.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, s.Handler())
	cfg := s.SafeHaven(wire.URL)
	cfg.Deadline, cfg.ReadDeadline = 1500*time.Millisecond, 3*time.Second
	p, err := safehaven.New(cfg, clk)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

// mtn is a bundle that the catalogue has, for a phone with this ending.
func mtn(ending string) provider.Purchase {
	return provider.Purchase{
		Kind: provider.Data, Category: catalogue[1].categories[0].id, Product: "mtn-1gb-7d",
		Amount: 800 * money.Naira, Phone: "080312345" + ending,
	}
}

func executions(t *testing.T, s *Sandbox, reference string) int {
	t.Helper()
	rows, err := s.executed(context.Background(), reference)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range rows {
		n += int(v.executions)
	}
	return n
}

func TestSafeHavenPlug(t *testing.T) {
	s := open(t, Config{})
	providertest.RunBiller(t, func(t *testing.T) providertest.World {
		p, wire := plug(t, s, s.clock)
		return providertest.World{
			Biller: p, Wire: wire, Paying: "/vas/pay/", Asking: "/vas/transaction/", Purchase: mtn,
			Executed: func(t *testing.T, reference string) int { return executions(t, s, reference) },
		}
	})
}

// The stories are told by the number, whatever is bought for it.
func TestEveryKindIsSold(t *testing.T) {
	s := open(t, Config{})
	p, _ := plug(t, s, s.clock)
	for _, buy := range []provider.Purchase{
		{Kind: provider.Airtime, Category: catalogue[0].categories[2].id, Amount: 15050, Phone: "080512345"},
		{Kind: provider.Data, Category: catalogue[1].categories[2].id, Product: "glo-350mb-2d", Amount: 20050, Phone: "080512345"},
		{Kind: provider.Utility, Category: catalogue[2].categories[0].id, Amount: 200000, Meter: "450123456", VendType: "PREPAID"},
		{Kind: provider.CableTV, Category: catalogue[3].categories[0].id, Product: "dstv-compact|dstv-french", Amount: 26000 * money.Naira, Card: "70123456"},
		{Kind: provider.CableTV, Category: catalogue[3].categories[1].id, Product: "TOP_UP", Amount: 12345, Card: "70123456"},
	} {
		for ending, want := range map[string]provider.Outcome{"88": provider.Confirmed, "01": provider.Rejected, "04": provider.Unknown} {
			b := buy
			b.Reference = id.New()
			for _, number := range []*string{&b.Phone, &b.Card, &b.Meter} {
				if *number != "" {
					*number += ending
				}
			}
			a := p.Pay(context.Background(), b)
			if a.Outcome != want || (a.Token != "") != (b.Kind == provider.Utility && want == provider.Confirmed) {
				t.Errorf("%s %s: %+v", b.Kind, ending, a)
			}
		}
	}
}
