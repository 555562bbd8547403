package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// figures are the Prometheus metrics of requests. Their label is the route in the contract, and
// not the path of the request. So the number of time series stays small.
type figures struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	failures *prometheus.CounterVec // by door: api or admin
	refusals prometheus.Counter     // operators' requests beyond their role
	known    sync.Map               // the time series by labels, because the vectors hash all labels on each look-up
}

type (
	labels struct {
		method, route string
		status        int
	}
	series struct {
		requests prometheus.Counter
		took     prometheus.Observer
	}
)

func newFigures(registry prometheus.Registerer) (*figures, error) {
	if registry == nil {
		return nil, nil
	}
	f := &figures{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kobo_http_request_seconds", Help: "How long requests took.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}, []string{"method", "route"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_auth_failures_total",
			Help: "Failed requests for tokens (door api), and requests of operators without a valid key (door admin).",
		}, []string{"door"}),
		refusals: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kobo_admin_forbidden_total", Help: "Requests of operators that their role does not allow.",
		}),
	}
	for _, door := range []string{doorAPI, doorAdmin} {
		f.failures.WithLabelValues(door)
	}
	return f, errors.Join(registry.Register(f.requests), registry.Register(f.took), registry.Register(f.failures), registry.Register(f.refusals))
}

const (
	doorAPI   = "api"
	doorAdmin = "admin"
)

// countFailure counts a response that refuses the caller's credentials, or an operator's role. The responses 429 are those of
// callers who have failed too often, and of companies over their limit.
func (f *figures) countFailure(route string, status int) {
	refused := status == http.StatusUnauthorized || status == http.StatusTooManyRequests
	switch {
	case strings.HasPrefix(route, "/api/v1/auth/") && (refused || status == http.StatusBadRequest || status == http.StatusForbidden):
		f.failures.WithLabelValues(doorAPI).Inc()
	case strings.Contains(route, "/admin/v1/") && refused:
		f.failures.WithLabelValues(doorAdmin).Inc()
	case strings.Contains(route, "/admin/v1/") && status == http.StatusForbidden:
		f.refusals.Inc()
	}
}

func (f *figures) count(method, route string, status int, took time.Duration) {
	if f == nil {
		return
	}
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "other" // a caller can invent any number of methods
	}
	l := labels{method, route, status}
	known, found := f.known.Load(l)
	if !found {
		known, _ = f.known.LoadOrStore(l, series{
			f.requests.WithLabelValues(method, route, strconv.Itoa(status)), f.took.WithLabelValues(method, route),
		})
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		f.countFailure(route, status)
	}
	of := known.(series)
	of.requests.Inc()
	of.took.Observe(took.Seconds())
}
