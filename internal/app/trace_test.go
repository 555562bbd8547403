package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
)

// collector is an OTLP collector that stores the requests that it receives.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	paths  []string
	bodies string
	status int
}

func newCollector(t *testing.T, status int) *collector {
	t.Helper()
	c := &collector{status: status}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paths = append(c.paths, r.Method+" "+r.URL.Path+" "+r.Header.Get("x-team"))
		c.bodies += string(body)
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// spanSaid starts a tracer and records one span. It reports whether tracing is on, and returns the
// log.
func spanSaid(t *testing.T, address string) (traced bool, log string) {
	t.Helper()
	var out strings.Builder
	provider, flush, err := tracer(t.Context(), address, slog.New(slog.NewJSONHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if provider == nil {
		return false, out.String()
	}
	_, span := provider.Tracer("test").Start(t.Context(), "a span")
	span.End()
	if err := flush(context.WithoutCancel(t.Context())); err != nil {
		t.Log(err)
	}
	return true, out.String()
}

// If the collector's address has no path, the spans are sent to the standard path. If it has a
// path, the address is used unchanged.
func TestTracesReachACollector(t *testing.T) {
	for below, want := range map[string]string{"": "/v1/traces", "/": "/v1/traces", "/otlp/of/ours": "/otlp/of/ours"} {
		c := newCollector(t, http.StatusOK)
		spanSaid(t, c.URL+below)
		if len(c.paths) != 1 || c.paths[0] != "POST "+want+" " || !strings.Contains(c.bodies, "a span") || !strings.Contains(c.bodies, "kobo") {
			t.Errorf("%q: %q", below, c.paths)
		}
	}
}

// The standard OpenTelemetry environment variables apply. If Kobo's setting for traces is made too,
// it overrides only the address.
func TestTracesFollowTheStandardVariables(t *testing.T) {
	c := newCollector(t, http.StatusOK)
	for name, one := range map[string]struct {
		env  map[string]string
		ours string
		want string // "" for no span
	}{
		"a base address":    {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/base"}, "", "POST /base/v1/traces "},
		"traces' own":       {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/own"}, "", "POST /own "},
		"a header":          {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=pay"}, "", "POST /v1/traces pay"},
		"ours is stronger":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, c.URL, "POST /v1/traces "},
		"ours and a header": {map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "x-team=pay"}, c.URL, "POST /v1/traces pay"},
		"no exporter":       {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		"another exporter":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_EXPORTER": "zipkin"}, "", ""},
		"disabled":          {map[string]string{"OTEL_SDK_DISABLED": "true"}, c.URL, ""},
		"nothing":           {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range one.env {
				t.Setenv(k, v)
			}
			t.Setenv("OTEL_SERVICE_NAME", "kobo-lagos")
			c.paths, c.bodies = nil, ""
			traced, log := spanSaid(t, one.ours)
			if !traced || one.want == "" {
				if traced || one.want != "" || len(c.paths) > 0 {
					t.Errorf("traced %v, %q, %s", traced, c.paths, log)
				}
				return
			}
			if len(c.paths) != 1 || c.paths[0] != one.want || !strings.Contains(c.bodies, "kobo-lagos") {
				t.Errorf("%q, %s", c.paths, log)
			}
		})
	}
}

// Spans have hosts and routes, but neither the path nor the query of a URL. A node's API key, a customer's e-mail
// address and an Idempotency-Key stand in such paths.
func TestSpansHaveNoPaths(t *testing.T) {
	c := newCollector(t, http.StatusOK)
	cfg := DevConfig(t.TempDir(), "")
	cfg.Traces = c.URL
	a, _, err := OpenDev(t.Context(), cfg, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	h, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/v1/customer/ada@example.com?secret=hunter3", "/hunter4"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	}
	node := httptest.NewServer(http.NotFoundHandler())
	defer node.Close()
	address := strings.Replace(node.URL, "://", "://hunter5:hunter6@", 1) + "/v2/hunter2?key=hunter3"
	for _, around := range []func(http.RoundTripper) http.RoundTripper{
		a.around("node", address),
		func(http.RoundTripper) http.RoundTripper { return a.around("node", address)(quoting{}) },
	} {
		client := http.Client{Transport: around(http.DefaultTransport.(*http.Transport).Clone())}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := client.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}
	_, span := a.traces.Tracer("test").Start(t.Context(), "a span")
	_, err = quoting{}.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))
	span.RecordError(err)
	span.End()
	if err := a.flush(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []string{"hunter", "ada@example.com", "/v2/"} {
		if strings.Contains(c.bodies, hidden) {
			t.Errorf("the spans contain %s: %q", hidden, c.bodies)
		}
	}
	for _, shown := range []string{"GET /api/v1/customer/{customer}", "GET unknown", "HTTP GET", "127.0.0.1", "a span", node.URL + ` "` + node.URL + `" cannot`} {
		if !strings.Contains(c.bodies, shown) {
			t.Errorf("the spans do not contain %s: %q", shown, c.bodies)
		}
	}
}

// quoting fails each request with an error that quotes the whole URL.
type quoting struct{}

func (quoting) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s %q cannot be reached", r.URL, r.URL)
}

// Lost traces are logged as a warning.
func TestLostTracesAreLogged(t *testing.T) {
	c := newCollector(t, http.StatusForbidden)
	_, log := spanSaid(t, c.URL)
	var line struct{ Level, Msg, Error string }
	if err := json.Unmarshal([]byte(log), &line); err != nil || line.Level != "WARN" || line.Msg != "traces were lost" || !strings.Contains(line.Error, "403") {
		t.Errorf("%s: %v", log, err)
	}
}

// An invalid OpenTelemetry variable causes a warning, but no trace is lost. That warning does not
// delay the warning about lost traces.
func TestAWrongVariableLosesNoTraces(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "nonsense")
	c := newCollector(t, http.StatusOK)
	if _, log := spanSaid(t, c.URL); len(c.paths) != 1 || strings.Contains(log, "lost") || strings.Count(log, "not heeded") != 1 || !strings.Contains(log, "nonsense") {
		t.Errorf("%q, %s", c.paths, log)
	}
	c.status = http.StatusForbidden
	if _, log := spanSaid(t, c.URL); strings.Count(log, "traces were lost") != 1 || !strings.Contains(log, `"more_before":0`) {
		t.Error(log)
	}
}

func TestLostTracesAreLoggedOnceAMinute(t *testing.T) {
	var out strings.Builder
	now := &clock.Movable{}
	e := &traceErrors{log: slog.New(slog.NewTextHandler(&out, nil)), clock: now}
	for range 1000 {
		e.Handle(errors.New("the collector is away"))
	}
	now.MoveTo(time.Minute)
	e.Handle(errors.New("the collector is away"))
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "more_before=999") {
		t.Errorf("logged: %s", got)
	}
}
