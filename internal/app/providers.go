package app

import (
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// bankName is the name under which the books know Safe Haven.
const bankName = "safehaven"

// plugs are the providers by what they do, and by the name under which the books
// remember them.
type plugs struct {
	billers  map[string]provider.Biller
	routes   vtu.Routes // which of them sells what
	banks    map[string]provider.Bank
	verifier provider.Verifier
	issuers  map[string]provider.Issuer
	custody  custody
	// float is the number of our own account at each bank: what is paid into the
	// companies' accounts goes on to it.
	float map[string]string
}

// payers are the banks as those who pay out see them.
func (p plugs) payers() map[string]provider.Payer {
	out := map[string]provider.Payer{}
	for name, b := range p.banks {
		out[name] = b
	}
	return out
}

// providers makes the plugs. A new provider is one line here.
func (a *App) providers() (plugs, error) {
	cfg, err := a.cfg.SafeHaven.plug()
	if a.world != nil {
		cfg, err = a.world.safehaven(), nil
	}
	if err != nil {
		return plugs{}, err
	}
	cfg.PayDeadline, cfg.ReadDeadline = a.deadlines()
	cfg.Around = a.traced()
	plug, err := safehaven.New(cfg, a.Clock)
	if err != nil {
		return plugs{}, err
	}
	out := plugs{
		billers: map[string]provider.Biller{bankName: plug}, banks: map[string]provider.Bank{bankName: plug}, verifier: plug,
		float: map[string]string{bankName: cfg.DebitAccount},
	}
	second, err := a.vtpass()
	if err != nil {
		return plugs{}, err
	}
	if second != nil {
		out.billers[vtpassName] = second
	}
	if out.issuers, err = a.sudo(); err != nil {
		return plugs{}, err
	}
	if out.routes, err = a.cfg.routes(); err != nil {
		return plugs{}, err
	}
	if a.cfg.Around != nil {
		for name, b := range out.billers {
			out.billers[name] = a.cfg.Around(b)
		}
	}
	if a.cfg.AroundBanks != nil {
		for name, b := range out.banks {
			out.banks[name] = a.cfg.AroundBanks(b)
		}
	}
	return out, nil
}

// traced wraps the transports of a plug, where traces are sent.
func (a *App) traced() func(http.RoundTripper) http.RoundTripper {
	if a.traces == nil {
		return nil
	}
	return func(t http.RoundTripper) http.RoundTripper {
		return otelhttp.NewTransport(t, otelhttp.WithTracerProvider(a.traces))
	}
}

// deadlines of a plug's calls: both end before the window does, so that what
// the plug heard is known before the resolver may ask.
func (a *App) deadlines() (pay, read time.Duration) {
	return a.cfg.Window * 8 / 10, min(a.cfg.Window/2, 15*time.Second)
}
