package app

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/evm"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// Provider is a group of settings for our account at a provider. Each provider has a Go file with
// its settings, its checks and its plug. The same file registers the provider.
type Provider interface {
	// check returns the errors of the settings. The group is their path, such as "vtpass" or
	// "banks.main".
	check(m Mode, group string) error
	// simulated returns the simulated provider for sandbox mode.
	simulated() books.Provider
	// connect creates the plug, if the provider is configured, and adds it to p under its name.
	connect(a *App, name string, p *plugs) error
}

// seller is a Provider that may sell airtime, data, TV and power.
type seller interface{ sells(m Mode) bool }

// mounter is a Provider that adds an HTTP handler for its callbacks.
type mounter interface {
	mount(a *App, name string, at map[string]http.Handler)
}

// registered contains the empty settings of every provider that this program supports. bankPlugs
// contains the empty settings of the banks, since more than one bank may be configured.
var registered, bankPlugs = map[string]Provider{}, map[string]Provider{}

func register(name string, p Provider) { registered[name] = p }

func registerBank(plug string, p Provider) { registered[plug], bankPlugs[plug] = p, p }

// plugs contains the connected providers, grouped by what they do. The keys of its maps are the
// names that the ledger uses for the providers.
type plugs struct {
	billers map[string]provider.Biller
	routes  vtu.Routes // which biller sells which service
	lookups map[string]provider.ByKind
	// wallets has the providers that report the balance of our account. walletLow has the balance below
	// which such an account counts as low.
	wallets   map[string]provider.Wallet
	walletLow map[string]money.Kobo
	banks     map[string]bank
	issuers   map[string]provider.Issuer
	custody   custody
	bankWork  provider.Routes // which bank does which kind of work
}

func (p plugs) has(name string) bool {
	return p.banks[name].Bank != nil || p.billers[name] != nil || p.issuers[name] != nil ||
		slices.ContainsFunc(p.custody.plugs, func(c crypto.Custody) bool { return c.Name == name })
}

// connect creates the plugs of all configured providers.
func (a *App) connect() (p plugs, err error) {
	p = plugs{billers: map[string]provider.Biller{}, banks: map[string]bank{}, issuers: map[string]provider.Issuer{}, lookups: map[string]provider.ByKind{}}
	if p.custody, err = a.custody(); err != nil {
		return p, err
	}
	all := a.cfg.accounts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].connect(a, name, &p); err != nil {
			return p, err
		}
	}
	if p.routes, err = a.cfg.routes(); err == nil {
		p.bankWork, err = a.cfg.bankRoutes()
	}
	if err == nil {
		p.walletLow, err = a.cfg.walletLow()
	}
	p.wallets = p.allWallets()
	if a.cfg.Around != nil {
		for name, b := range p.billers {
			p.billers[name] = a.cfg.Around(b)
		}
	}
	if a.cfg.AroundBanks != nil {
		for name, b := range p.banks {
			b.Bank = a.cfg.AroundBanks(b.Bank)
			p.banks[name] = b
		}
	}
	return p, err
}

// allWallets returns the providers that report the balance of our account.
func (p plugs) allWallets() map[string]provider.Wallet {
	out := map[string]provider.Wallet{}
	add := func(name string, plug any) {
		if w, has := plug.(provider.Wallet); has {
			out[name] = w
		}
	}
	for name, b := range p.billers {
		add(name, b)
	}
	for name, b := range p.banks {
		add(name, b.Bank)
	}
	for name, i := range p.issuers {
		add(name, i)
	}
	return out
}

// prepare sets the time limits, the tracing and the metrics of a plug's HTTP client.
func (a *App) prepare(name string, c *provider.ClientConfig) {
	c.Meter = a.calls.Of(name)
	c.PayDeadline, c.ReadDeadline = a.deadlines()
	c.Around = a.around(name, c.BaseURL)
}

// prepareNode sets the tracing and the metrics of a node's HTTP client.
func (a *App) prepareNode(name string, c *evm.Config) {
	c.Around, c.Meter, c.Clock = a.around(name, c.URL.Reveal()), a.calls.Of(name), a.Clock
}

// around returns a function that adds tracing to the HTTP transport of a plug, or the tap with which
// its provider is checked. It returns nil if there is neither.
func (a *App) around(name, address string) func(http.RoundTripper) http.RoundTripper {
	switch {
	case a.tap != nil:
		return a.tap(name, address).Around
	case a.traces == nil:
		return a.cfg.throughNetwork
	}
	return func(t http.RoundTripper) http.RoundTripper {
		t = a.cfg.throughNetwork(t)
		return otelhttp.NewTransport(t, otelhttp.WithTracerProvider(a.traces))
	}
}

// deadlines returns the time limits of a plug's calls. Both limits are shorter than the window
// after which an outcome is unknown. So a plug's call ends before the resolver may ask the provider
// for the outcome.
func (a *App) deadlines() (pay, read time.Duration) {
	return a.cfg.Window * 8 / 10, min(a.cfg.Window/2, 15*time.Second)
}
