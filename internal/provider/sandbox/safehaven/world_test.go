package safehaven

import (
	"context"
	"net/http"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	plug "github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
)

// opened is a sandbox in which the simulated Safe Haven runs.
type opened struct {
	*Bank
	server *sandbox.Sandbox
	path   string // the prefix of all paths of the bank; "" for the first bank
}

func open(t *testing.T, cfg sandbox.Config) opened {
	t.Helper()
	b := &Bank{}
	return opened{b, sandboxtest.Open(t, cfg, b), ""}
}

func byHand(t *testing.T, s opened) *sandboxtest.Caller {
	return sandboxtest.NewCaller(t, s.server.Handler())
}

// connect returns a Safe Haven plug that sends its requests to s through a providertest.Wire.
func connect(t *testing.T, s opened, clk clock.Clock) (*plug.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = s.path + r.URL.Path
		s.server.Handler().ServeHTTP(w, r)
	}))
	cfg := s.PlugConfig(wire.URL)
	cfg.PayDeadline, cfg.ReadDeadline = providertest.Deadlines(t)
	p, err := plug.New(cfg, clk)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

// mtn returns a purchase of a data bundle from the catalogue. The phone number ends with the digits
// ending.
func mtn(ending string) provider.Purchase {
	return provider.Purchase{
		Kind: provider.Data, Category: catalogue[1].categories[0].id, Product: "mtn-1gb-7d",
		Amount: 800 * money.Naira, Phone: "080312345" + ending,
	}
}

func executions(t *testing.T, s opened, reference string) int {
	t.Helper()
	return sandboxtest.Executions(t, s.requests, reference)
}

func TestSafeHavenPlug(t *testing.T) {
	s := open(t, sandbox.Config{})
	providertest.RunBiller(t, func(t *testing.T) providertest.World {
		p, wire := connect(t, s, s.Clock)
		return providertest.World{
			Biller: p, Wire: wire, Paying: "/vas/pay/", Asking: "/vas/transaction/", Purchase: mtn,
			Executed: func(t *testing.T, reference string) int { return executions(t, s, reference) },
		}
	})
}

// For every kind of purchase, the last digits of the number choose the test scenario (story).
func TestEveryKindIsSold(t *testing.T) {
	s := open(t, sandbox.Config{})
	p, _ := connect(t, s, s.Clock)
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
