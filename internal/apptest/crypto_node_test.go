package apptest_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
)

// A node of a different chain credits nothing, although the program starts. When the node is right, the
// deposit is found. Later the daily check finds coins that came without a movement.
func TestANodeIsNotTrusted(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		c := providertest.NewChain(t)
		contract := c.Deploy("USDT", big.NewInt(1_000_000))
		home := apptest.NewHome(t, dialect)
		other := onChain(t, home, c.URL, contract, 1)
		p := home.Start(t, other)
		address := generate(t, p, "local")
		c.Send(c.Owner, address, big.NewInt(1_000_000_000_000_000_000))
		c.Mine(10)
		err := p.App.Crypto.Read(t.Context(), "node:local")
		if provider.AsError("", err).Code != provider.CodeWrongChain {
			t.Errorf("a node of a different chain was read: %v", err)
		}
		becomes(t, p)
		p.Stop()

		p = home.Start(t, onChain(t, home, c.URL, contract, providertest.ChainID), func(cfg *app.Config) {
			cfg.Crypto.NodeBatch, cfg.Crypto.NodeSpan, cfg.Crypto.NodeCallsPerSecond = 3, 2, 1000
		})
		becomes(t, p, "deposit completed 1 ETH")
		for day, want := range []int{0, 1, 1} {
			if day == 1 {
				c.SetBalance(address, big.NewInt(1_500_000_000_000_000_000))
			}
			c.Mine(10)
			if err := p.App.Crypto.Read(t.Context(), "node:local"); err != nil {
				t.Fatal(err)
			}
			p.Advance(24 * time.Hour) // the check of the new day may already run in the background
			if err := p.App.Crypto.CheckBalances(t.Context(), "node:local"); err != nil {
				t.Fatal(err)
			}
			cases, _, err := p.App.Operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open}, 10, 0)
			if err != nil || len(cases) != want || want == 1 && !strings.Contains(cases[0].Detail, "holds 0.5 ETH more than Kobo has seen") {
				t.Errorf("%+v %v, want %d", cases, err, want)
			}
		}
		becomes(t, p, "deposit completed 1 ETH")
		p.Audit(t, apptest.DevFloat)
	})
}
