package vtpass

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
	plug "github.com/kobo-waas/kobo/internal/provider/vtpass"
)

// opened is a sandbox in which only the simulated VTpass runs.
type opened struct {
	*Biller
	server *sandbox.Sandbox
}

func open(t *testing.T) opened {
	t.Helper()
	b := &Biller{}
	return opened{b, sandboxtest.Open(t, sandbox.Config{}, b)}
}

// connect returns a VTpass plug that sends its requests to s through a providertest.Wire.
func connect(t *testing.T, s opened) (*plug.Plug, *providertest.Wire) {
	t.Helper()
	wire := providertest.NewWire(t, s.server.Handler())
	cfg := s.PlugConfig(wire.URL)
	cfg.PayDeadline, cfg.ReadDeadline = providertest.Deadlines(t)
	p, err := plug.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p, wire
}

func executions(t *testing.T, s opened, reference string) int {
	t.Helper()
	return sandboxtest.Executions(t, s.requests, reference)
}

func TestBiller(t *testing.T) {
	s := open(t)
	providertest.RunBiller(t, func(t *testing.T) providertest.World {
		p, wire := connect(t, s)
		return providertest.World{
			Biller: p, Wire: wire, Paying: path + "/pay", Asking: path + "/requery", Keyed: true,
			Purchase: func(ending string) provider.Purchase {
				return provider.Purchase{
					Kind: provider.Data, Category: "mtn-data", Product: "mtn-1gb-780", Amount: 780 * money.Naira, Phone: "080312345" + ending,
				}
			},
			Executed: func(t *testing.T, reference string) int { return executions(t, s, reference) },
		}
	})
}

// Every kind of product can be bought. A refused or reversed purchase leaves the wallet's balance
// unchanged.
func TestEveryKindIsSold(t *testing.T) {
	s, ctx := open(t), context.Background()
	p, _ := connect(t, s)
	spent := money.Kobo(0)
	for _, buy := range []provider.Purchase{
		{Kind: provider.Airtime, Category: "glo", Amount: 15050, Phone: "080512345"},
		{Kind: provider.Data, Category: "glo-data", Product: "glo-100", Amount: 10000, Phone: "080512345"},
		{Kind: provider.Utility, Category: "aba-electric", Amount: 200000, Meter: "450123456", VendType: provider.Prepaid},
		{Kind: provider.CableTV, Category: "dstv", Product: "dstv79", Amount: 19000 * money.Naira, Card: "70123456"},
	} {
		for ending, want := range map[string]provider.Outcome{"88": provider.Confirmed, "01": provider.Rejected, "07": provider.Unknown} {
			b := buy
			b.Reference = id.New()
			for _, number := range []*string{&b.Phone, &b.Card, &b.Meter} {
				if *number != "" {
					*number += ending
				}
			}
			a := p.Pay(ctx, b)
			if a.Outcome != want || (a.Token != "") != (b.Kind == provider.Utility && want == provider.Confirmed) {
				t.Errorf("%s %s: %+v", b.Kind, ending, a)
			}
			if want == provider.Confirmed {
				spent += b.Amount
				continue
			}
			p.Requery(ctx, provider.Sale{Reference: b.Reference, Begun: b.Begun})
			if a := p.Requery(ctx, provider.Sale{Reference: b.Reference, Begun: b.Begun}); a.Outcome != provider.Rejected {
				t.Errorf("%s %s: afterwards %+v", b.Kind, ending, a)
			}
		}
	}
	left, err := s.Balance(ctx, wallet)
	if err != nil || left != books.OpeningFloat-spent {
		t.Errorf("the wallet holds %s, not %s less %s: %v", left, books.OpeningFloat, spent, err)
	}
}

func TestVerification(t *testing.T) {
	p, _ := connect(t, open(t))
	ask := func(kind provider.ServiceKind, category, number string) provider.EntityAnswer {
		return p.VerifyEntity(context.Background(), provider.EntityQuery{Kind: kind, Category: category, Number: number})
	}
	tv := ask(provider.CableTV, "gotv", "7012345688")
	if tv.Outcome != provider.Confirmed || tv.CurrentPackage != "GOtv Smallie N1,900" || tv.Renewal != 1900*money.Naira || tv.DueDate != "2030-02-06" {
		t.Errorf("a smartcard: %+v", tv)
	}
	if a := ask(provider.Utility, "eko-electric", "45012345688"); a.Outcome != provider.Confirmed || a.VendType != provider.Prepaid || a.Least != 500*money.Naira {
		t.Errorf("a meter: %+v", a)
	}
	if a := ask(provider.Utility, "eko-electric", "95012345688"); a.Outcome != provider.Confirmed || a.VendType != provider.Postpaid {
		t.Errorf("a postpaid meter: %+v", a)
	}
	if a := ask(provider.Utility, "eko-electric", "95012345699"); a.Outcome != provider.Rejected {
		t.Errorf("a meter that does not exist: %+v", a)
	}
	if a := ask(provider.CableTV, "nothing", "7012345688"); a.Outcome != provider.Unknown {
		t.Errorf("a product that does not exist: %+v", a)
	}
}

func TestRequestIDsNeedAStamp(t *testing.T) {
	now := time.Date(2030, 1, 2, 23, 30, 0, 0, time.UTC) // in Lagos this is the 3rd, 00:30
	for requestID, want := range map[string]bool{
		"203001030030abc": true, "203001030029": true, "203001020029x": false, "2030010300": false, "20300103003o": false, "abc": false,
	} {
		if isStamped(requestID, now) != want {
			t.Errorf("%s: want %v", requestID, want)
		}
	}
}
