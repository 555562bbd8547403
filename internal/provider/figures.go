package provider

import (
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/figure"
)

// Figures are the metrics of the calls to all providers.
type Figures struct {
	calls    *prometheus.CounterVec
	took     *prometheus.HistogramVec
	register register // what was seen of the calls
	outcomes register // what was seen of the operations
}

// These are the results of calls that have a complete reply.
const (
	resultOK      = "ok"
	resultRefused = "refused"
	resultDenied  = "denied"
)

// NewFigures returns metrics without any call.
func NewFigures() *Figures {
	f := &Figures{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kobo_provider_calls_total",
			Help: "Calls to providers; the result is ok, refused (HTTP 4xx), denied (HTTP 401 or 403) or the reason why there is no reply.",
		}, []string{"provider", "call", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kobo_provider_call_seconds", Help: "How long calls to providers took, with their repetitions.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 13),
		}, []string{"provider", "call"}),
	}
	f.Follow(clock.System{})
	return f
}

// Metrics returns the metrics of all calls.
func (f *Figures) Metrics() []prometheus.Collector {
	return []prometheus.Collector{f.calls, f.took, successAge{f}}
}

var successAgeDesc = prometheus.NewDesc("kobo_provider_success_age_seconds",
	"Time since a call of this program to the provider succeeded, or since the first call if none did.", []string{"provider"}, nil)

// successAge is a collector that states when each provider last replied with success.
type successAge struct{ *Figures }

// Describe sends the description of the metric.
func (successAge) Describe(out chan<- *prometheus.Desc) { out <- successAgeDesc }

// Collect sends the metric of each provider that was called.
func (a successAge) Collect(out chan<- prometheus.Metric) {
	for name, age := range a.register.ages() {
		out <- figure.Seconds(successAgeDesc, age, name)
	}
}

// Meter adds the calls to one provider to the metrics. A nil Meter adds nothing.
type Meter struct {
	figures  *Figures
	provider string
}

// Of returns the meter of a provider. The name is the one that the configuration gives the provider.
func (f *Figures) Of(name string) *Meter { return &Meter{f, name} }

// Count adds a call that began at an instant. The result is "ok", or a word for the failure.
func (m *Meter) Count(call string, start time.Time, result string) {
	if m != nil {
		took := time.Since(start)
		m.figures.calls.WithLabelValues(m.provider, call, result).Inc()
		m.figures.took.WithLabelValues(m.provider, call).Observe(took.Seconds())
		m.figures.register.note(m.provider, call, result, took)
	}
}

// reply adds a call with its reply.
func (m *Meter) reply(call Call, start time.Time, r Reply) Reply {
	result := resultOK
	switch {
	case r.Trouble != "":
		result = r.Trouble
	case r.Status == 401, r.Status == 403:
		result = resultDenied
	case r.Status >= 400:
		result = resultRefused
	}
	m.Count(call.name(), start, result)
	return r
}

// word matches a part of a path that is the same in all calls, such as transfers, oauth2 or v3.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{0,30}[0-9]?$`)

// name returns the method and the path of a call, with ":id" in place of each part that may be an
// identifier. So the names are few, and contain no account number.
func (c Call) name() string {
	path, _, _ := strings.Cut(c.Path, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part != "" && !word.MatchString(part) {
			parts[i] = ":id"
		}
	}
	return c.Method + " " + strings.Join(parts, "/")
}
