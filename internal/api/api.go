// Package api is the door for companies: it turns HTTP requests into calls of
// the businesses and their answers into the bodies that the contract promises.
//
// The contract is openapi.yaml. Routes, rules and answer types are read from it,
// by the generator (spec.gen.go) or when the program starts (contract.go); there
// is no second list. A request passes, in this order: its id and log line, the
// limit of the token operations, the gate (who is calling?), the company's
// limit, the rules of the body, the Idempotency-Key, and then the handler, which
// asks one business and shapes the answer. A handler never writes and never
// chooses a status: it returns a body or a fault, and envelope.go dresses faults
// the way the operation's family does, oddities included (docs/contract.md).
package api

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/peer"
)

// Config is what the edge stands on. Businesses, Clock and Log are required.
type Config struct {
	Companies   Companies
	Corporate   Corporate
	Customers   Customers
	Settlements Settlements
	Payouts     Payouts
	Cards       Cards
	Collections Collections
	VTU         VTU
	Crypto      Crypto
	Events      Events
	Webhooks    Webhooks
	Reports     Reports
	Keys        Keys

	Clock clock.Clock
	Log   *slog.Logger

	// Closed tells whether companies are let in at all; nil always lets them.
	Closed func() bool

	// Limits are the rate limits; nil turns them off, as in dev.
	Limits *Limits
	// PublicURL is where companies reach this server, for /openapi.json: scheme and
	// host. Empty is the address that the reader of the document has asked.
	PublicURL string
	// Proxies may tell from which address a request comes; with none that is the
	// other end of the connection.
	Proxies peer.Proxies
	// Registry collects the edge's figures; nil collects none.
	Registry prometheus.Registerer
	// Traces records a span for each request; nil records none.
	Traces trace.TracerProvider

	// Health, Ready and Metrics answer /healthz, /readyz and /metrics; a nil
	// one is not mounted.
	Health, Ready, Metrics http.Handler
	// Mounts are further doors by ServeMux pattern, such as "/admin/". They get
	// request ids, log lines and panics answered, and nothing else.
	Mounts map[string]http.Handler
}

// edge is everything a request passes through.
type edge struct {
	Config
	contract *document
	mux      *http.ServeMux
	limits   *limiters
	figures  *figures
	warned   atomic.Bool // of forwarded requests that are not heeded
}

// New is the whole HTTP edge as one handler. It fails only when the contract
// and the program do not fit, when a limit cannot be kept, or when the registry
// already holds its figures.
func New(cfg Config) (http.Handler, error) {
	d, err := readDocument(style(cfg.Clock))
	if err != nil {
		return nil, err
	}
	e := &edge{Config: cfg, contract: d, mux: http.NewServeMux()}
	if e.limits, err = newLimiters(cfg.Limits, cfg.Clock); err != nil {
		return nil, err
	}
	if e.figures, err = newFigures(cfg.Registry); err != nil {
		return nil, err
	}
	if err := e.route(); err != nil {
		return nil, err
	}
	if cfg.Traces == nil {
		return e, nil
	}
	return otelhttp.NewHandler(e, "http", otelhttp.WithTracerProvider(cfg.Traces), otelhttp.WithFilter(traced)), nil
}

// traced leaves out the addresses that are secrets: a span shows its path.
func traced(r *http.Request) bool { return !strings.HasPrefix(r.URL.Path, "/callbacks/") }
