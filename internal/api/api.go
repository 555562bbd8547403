// Package api is the HTTP API for companies. It turns requests into calls of the business
// services, such as payout.Service. It turns the results of these calls into the response bodies
// that the contract promises.
//
// The contract is openapi.yaml. Routes and types are generated from it (spec.gen.go). The rules
// for bodies are read from it when the program starts (internal/contract). Routes, types and
// rules have no other source.
//
// A request passes these steps in order: its id and log line, the limit of failed requests for
// tokens, the access token, the limit of the company's programs, the rules of the body, the
// Idempotency-Key, and the handler. The handler calls one business service and shapes the response. A handler never
// writes to the connection and never chooses a status. It returns a body or a fault. Endpoints that
// share a format of error responses form a family (docs/contract.md). envelope.go turns a fault
// into the format of the endpoint's family.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Config is what the API needs. The services, Authenticate, Clock and Log are required.
type Config struct {
	Companies   *company.Service
	Corporate   *corporate.Service
	Customers   *customer.Service
	Settlements *settlement.Service
	Payouts     *payout.Service
	Quotas      *quota.Service
	Cards       *card.Service
	Collections *collection.Service
	VTU         *vtu.Shop
	Crypto      *crypto.Service
	Events      *event.Service
	Webhooks    *webhook.Service
	Requests    *request.Service
	Reports     *report.Service
	Evidence    *evidence.Service
	Keys        *idempotency.Service

	// Authenticate returns the company of an access token. It is usually Companies.Authenticate.
	Authenticate func(ctx context.Context, accessToken string) (company.Identity, error)
	// People returns the people of a company who can sign in. It is usually person.Service.People.
	People func(ctx context.Context, company string) ([]person.Person, error)
	// SignedIn returns those of them who have signed in. It is usually person.Service.Ready.
	SignedIn func(ctx context.Context, company string) ([]person.Person, error)
	// SignedLines returns the signed lines of the audit log about a subject of a company since an instant, in their order.
	// It is usually operator.Service.SignedLines.
	SignedLines func(ctx context.Context, company, subject string, since time.Time) ([]operator.Line, error)
	// FailedLogin records a failed request for tokens in the audit log. The company is "" if it is
	// unknown. nil records nothing.
	FailedLogin func(ctx context.Context, action, company string)
	// Bound returns the context of a request, with the limit of its waiting for the database. nil
	// sets no limit.
	Bound func(r *http.Request) context.Context
	// At returns the context of a request of a company, which runs at the node of the database that holds
	// the company. nil changes nothing.
	At func(ctx context.Context, company string) context.Context
	// Around wraps every handler of the contract. Tests inject faults there.
	Around []StrictMiddlewareFunc

	Clock clock.Clock
	Log   *slog.Logger

	// Closed reports whether the API is closed for maintenance. If nil, the API is never closed.
	Closed func() bool

	// Limits are the rate limits. nil turns them off, as in dev.
	Limits *Limits
	// PublicURL is the address (scheme and host) at which companies reach this server. If it
	// is empty, /openapi.json names the address of the request.
	PublicURL string
	// Proxies are the trusted proxies, which may report the address of a caller. Without a
	// trusted proxy, the caller's address is the remote address of the connection.
	Proxies peer.Proxies
	// Serves reports whether the address at which a request arrived serves the request's path. Any
	// other request gets 404. nil serves every path at every address.
	Serves func(r *http.Request) bool
	// Registry collects the metrics of the API. nil collects none.
	Registry prometheus.Registerer
	// Traces records a span for each request. nil records none.
	Traces trace.TracerProvider

	// Health, Ready and Metrics serve /healthz, /readyz and /metrics. A nil handler is not
	// mounted.
	Health, Ready, Metrics http.Handler
	// Mounts are further handlers by ServeMux pattern, such as "/admin/". Their requests get an
	// id and a log line, and their panics become error responses.
	Mounts map[string]http.Handler
}

// edge is the handler that serves the API.
type edge struct {
	Config
	contract *contract.Contract
	mux      *http.ServeMux
	deeds    *http.ServeMux // the routes that conflict with routes of mux (deed)
	limits   limiters
	figures  *figures
	warned   atomic.Bool // the warning about an untrusted proxy has been logged
}

// New returns the whole API as one handler. New fails if the contract does not match the
// program, if a limit is invalid, or if the registry already has the metrics.
func New(cfg Config) (http.Handler, error) {
	spec, err := readContract()
	if err != nil {
		return nil, err
	}
	e := &edge{Config: cfg, contract: spec.With(cfg.Clock), mux: http.NewServeMux(), deeds: http.NewServeMux()}
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

// traced reports whether a request may be traced. Callbacks and sign-in links are not traced, because their paths
// contain secrets and otelhttp writes the path into the span.
func traced(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/callbacks/") && !strings.HasPrefix(r.URL.Path, "/app/link/") && !strings.HasPrefix(r.URL.Path, "/console/link/")
}
