package app

import (
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

// bankName is the name under which the books know Safe Haven.
const bankName = "safehaven"

// billers are the plugs that sell, by the name under which operations remember
// them. A new provider is one line here.
func (a *App) billers() (map[string]provider.Biller, error) {
	cfg, err := a.cfg.SafeHaven.plug()
	if a.world != nil {
		cfg, err = a.world.safehaven(), nil
	}
	if err != nil {
		return nil, err
	}
	cfg.Deadline, cfg.ReadDeadline = a.deadlines()
	if a.traces != nil {
		cfg.Around = func(t http.RoundTripper) http.RoundTripper {
			return otelhttp.NewTransport(t, otelhttp.WithTracerProvider(a.traces))
		}
	}
	plug, err := safehaven.New(cfg, a.Clock)
	if err != nil {
		return nil, err
	}
	billers := map[string]provider.Biller{bankName: plug}
	if a.cfg.Around != nil {
		for name, b := range billers {
			billers[name] = a.cfg.Around(b)
		}
	}
	return billers, nil
}

// deadlines of a plug's calls: both end before the window does, so that what
// the plug heard is known before the resolver may ask.
func (a *App) deadlines() (pay, read time.Duration) {
	return a.cfg.Window * 8 / 10, min(a.cfg.Window/2, 15*time.Second)
}
