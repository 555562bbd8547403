package app

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// Provider is a group of settings: our account at a provider. Each provider has a file
// with its settings, its errors and its plug, and registers itself there.
type Provider interface {
	// check finds the errors of the group at this path, such as "vtpass" or "banks.main".
	check(m Mode, group string) error
	// simulated is the provider of sandbox mode.
	simulated() books.Provider
	// connect makes the plug, if the provider is configured, and adds it by its name.
	connect(a *App, name string, p *plugs) error
}

// seller is a Provider that may sell airtime, data, TV and power.
type seller interface{ sells(m Mode) bool }

// mounter is a Provider with a callback handler of its own.
type mounter interface {
	mount(a *App, name string, at map[string]http.Handler)
}

// registered are the providers that this program knows, without settings. Of those, the
// plugs of banks may be configured more than once.
var registered, bankPlugs = map[string]Provider{}, map[string]Provider{}

func register(name string, p Provider) { registered[name] = p }

func registerBank(plug string, p Provider) { registered[plug], bankPlugs[plug] = p, p }

// plugs are the connected providers by what they do, and by the names under which the
// ledger knows them.
type plugs struct {
	billers  map[string]provider.Biller
	routes   vtu.Routes // which of them sells what
	banks    map[string]bank
	issuers  map[string]provider.Issuer
	custody  custody
	bankWork provider.Routes // which bank does what
}

func (p plugs) has(name string) bool {
	return p.banks[name].Bank != nil || p.billers[name] != nil || p.issuers[name] != nil ||
		slices.ContainsFunc(p.custody.plugs, func(c crypto.Custody) bool { return c.Name == name })
}

// connect makes the plugs of all providers that are configured.
func (a *App) connect() (p plugs, err error) {
	p = plugs{billers: map[string]provider.Biller{}, banks: map[string]bank{}, issuers: map[string]provider.Issuer{}}
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

// prepare completes the client of a plug.
func (a *App) prepare(c *provider.ClientConfig) {
	c.PayDeadline, c.ReadDeadline = a.deadlines()
	c.Around = a.traced()
}

// traced wraps the transports of a plug, if traces are sent.
func (a *App) traced() func(http.RoundTripper) http.RoundTripper {
	if a.traces == nil {
		return nil
	}
	return func(t http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(t, otelhttp.WithTracerProvider(a.traces))
	}
}

// deadlines returns the time limits of a plug's calls. Both end before the window, so the
// plug has the answer before the resolver may ask.
func (a *App) deadlines() (pay, read time.Duration) {
	return a.cfg.Window * 8 / 10, min(a.cfg.Window/2, 15*time.Second)
}
