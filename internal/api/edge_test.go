package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
)

// send sends one request. It returns the response and the response body.
func send(t testing.TB, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// The log line of a request shows the route, the company and the status. It does not show any
// secret of the request.
func TestTheLogKeepsSecrets(t *testing.T) {
	config, log := broken{func() error { return errors.New("the disk is full") }}.config()
	url := serve(t, config)
	send(t, "POST", url+"/api/v1/auth/generate-token/c000000000000000000000000?q=quiet-1", "", "x-api-key", "quiet-2", "X-Request-Id", "mine-1")
	send(t, "POST", url+"/api/v1/auth/refresh-access-token/", `{"refreshToken":"quiet-3"}`, "Content-Type", "application/json")
	send(t, "GET", url+"/api/v1/vtu/transaction/quiet-4", "", "Authorization", "Bearer let-me-in", "Cookie", "quiet-5")
	send(t, "GET", url+"/quiet-6", "", "Authorization", "Bearer quiet-7")
	var got []map[string]any
	for line := range strings.Lines(log.String()) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		got = append(got, entry)
	}
	if len(got) != 4 || strings.Contains(log.String(), "quiet") {
		t.Fatalf("want four lines without secrets:\n%s", log)
	}
	want := map[string]any{
		"level": "ERROR", "msg": "request", "method": "POST", "route": "/api/v1/auth/generate-token/{reference}",
		"status": 400.0, "request_id": "mine-1", "refused": "internal", "error": "internal: Internal Server Error: the disk is full",
	}
	for k, v := range want {
		if got[0][k] != v {
			t.Errorf("%s: want %v, got %v", k, v, got[0][k])
		}
	}
	if got[2]["company"] != "c123" || got[2]["route"] != "/api/v1/vtu/transaction/{transactionId}" || got[3]["route"] != "unknown" {
		t.Errorf("%v\n%v", got[2], got[3])
	}
}

// A failed request for tokens is recorded with its company, if the company exists. The log line has the
// reference in any case, but no text that is no reference. A request that fails for another reason is not
// recorded.
func TestFailedRequestsForTokensAreRecorded(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	var seen []string
	w.Config.Log = slog.New(slog.NewJSONHandler(&log, nil))
	w.Config.FailedLogin = func(_ context.Context, action, company string) { seen = append(seen, action+" "+company) }
	_, url := w.serve(t)
	access, refresh, err := w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"])
	if err == nil {
		_, _, err = w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"]) // replaces the refresh token
	}
	if err != nil {
		t.Fatal(err)
	}
	const unknown, jsonType = "c000000000000000000000000", "application/json"
	token, claim := url+"/api/v1/auth/generate-token/", url+"/api/v1/auth/claim-key/"
	send(t, "POST", token+w.reference, "", "x-api-key", "wrong")
	send(t, "POST", token+unknown, "", "x-api-key", "wrong")
	send(t, "POST", token+"quiet", "", "x-api-key", "wrong")
	send(t, "POST", claim+w.reference, `{"keyToken":"wrong"}`, "Content-Type", jsonType)
	for _, text := range []string{refresh, access, "wrong"} {
		send(t, "POST", url+"/api/v1/auth/refresh-access-token/", `{"refreshToken":"`+text+`"}`, "Content-Type", jsonType)
	}
	for _, header := range [][]string{{"x-api-key", w.given["api_key"]}, {"x-api-key", ""}} { // no failure, and no key
		send(t, "POST", token+w.reference, "", header...)
	}
	off, key := live(t, w.stage.Companies, "Off")
	if _, err := w.stage.Companies.SetLive(t.Context(), me, off, false); err != nil {
		t.Fatal(err)
	}
	send(t, "POST", token+off, "", "x-api-key", key) // the key is right
	want := []string{
		"company.token.failed " + w.reference, "company.token.failed ", "company.token.failed ", "company.claim.failed " + w.reference,
		"company.refresh.failed " + w.reference, "company.refresh.failed ", "company.refresh.failed ",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("recorded: %q; want %q", seen, want)
	}
	var references []any
	for line := range strings.Lines(log.String()) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(entry["route"].(string), "/api/v1/auth/") {
			references = append(references, entry["reference"])
		}
	}
	named := []any{w.reference, unknown, nil, w.reference, w.reference, nil, nil, nil, nil, nil}
	if !slices.Equal(references, named) {
		t.Errorf("the log names %v; want %v", references, named)
	}
}

// The log line of an operator's request names the operator.
func TestTheLogNamesTheOperator(t *testing.T) {
	config, log := broken{func() error { return nil }}.config()
	config.Mounts = map[string]http.Handler{"/admin/v1/": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		peer.SetOperator(r.Context(), "ada")
	})}
	url := serve(t, config)
	send(t, "GET", url+"/admin/v1/companies", "")
	send(t, "GET", url+"/api/v1/vtu/services", "", "Authorization", "Bearer let-me-in")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"operator":"ada"`) || !strings.Contains(lines[0], `"address":"127.0.0.1"`) || strings.Contains(lines[1], "operator") {
		t.Errorf("%q", lines)
	}
}

// After a panic, the response is that of an internal error. Only the log shows the panic and its
// stack.
func TestAPanicIsAnswered(t *testing.T) {
	config, log := broken{func() error { panic(secretCause) }}.config()
	config.Mounts = map[string]http.Handler{"/elsewhere/": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("there too") })}
	url := serve(t, config)
	for path, want := range map[string]string{
		"/api/v1/vtu/services": `{"success":false,"message":"Internal Server Error"}`,
		"/elsewhere/x":         `{"status":"error","message":"Internal Server Error"}`,
	} {
		answer, text := send(t, "GET", url+path, "", "Authorization", "Bearer let-me-in")
		if answer.StatusCode != 500 || strings.TrimSpace(text) != want || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %s", path, answer.StatusCode, text)
		}
	}
	if !strings.Contains(log.String(), "broken_test.go") {
		t.Error("the stack is not in the log")
	}
}

func TestNothingIsRedirected(t *testing.T) {
	config, _ := broken{func() error { return nil }}.config()
	config.Mounts = map[string]http.Handler{"/door/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/door" {
			w.WriteHeader(http.StatusNotFound)
		}
	})}
	url := serve(t, config)
	for path, want := range map[string]int{
		"/door":                             404,
		"/door/":                            200,
		"//api/v1/vtu/services":             404,
		"/api/v1/./vtu/services":            404,
		"/api/v1/vtu/services/%2e%2e/":      404,
		"/api/v1/vtu/services":              200,
		"/api/v1/vtu/services/":             200,
		"/api/v1/vtu/services//":            404,
		"/api/v1/vtu/transaction/a%2Fb":     200,
		"/api/v1/vtu/transaction/%2Fa":      200,
		"/api/v1/vtu/transaction/a%00b":     400,
		"/api/v1/vtu/transaction/a%ffb":     400,
		"/api/v1/vtu/transaction/%E2%82%A6": 200,
		"/api/v1/vtu/transaction/":          404,
		"/api/v1/vtu/transaction/%2F":       404,
		"/api/v1/vtu/transactions/%2f":      404, // an escaped slash does not count as a trailing slash
		"/api/v1/vtu/transaction/%2F%2F":    200,
		"/docs/":                            200,
		"/docs/guides/":                     302,
		"/docs/guides/quick-start":          200,
		"/docs/guides/style.css":            200,
		"/docs/guides/unknown":              404,
		"/":                                 404,
	} {
		if answer, text := send(t, "GET", url+path, "", "Authorization", "Bearer let-me-in"); answer.StatusCode != want {
			t.Errorf("%s: %d %s", path, answer.StatusCode, text)
		}
	}
}

func TestHeadAndOptions(t *testing.T) {
	config, _ := broken{func() error { return nil }}.config()
	url := serve(t, config)
	if answer, text := send(t, "HEAD", url+"/api/v1/vtu/services", "", "Authorization", "Bearer let-me-in"); answer.StatusCode != 200 || text != "" {
		t.Errorf("HEAD: %d %q", answer.StatusCode, text)
	}
	answer, _ := send(t, "OPTIONS", url+"/api/v1/vtu/purchase-data", "")
	if answer.StatusCode != 405 || answer.Header.Get("Allow") != "POST" {
		t.Errorf("OPTIONS: %d, Allow %q", answer.StatusCode, answer.Header.Get("Allow"))
	}
}

// The label of a metric is the route, not the path. So a caller cannot create new time series by
// inventing paths or methods.
func TestFigures(t *testing.T) {
	registry := prometheus.NewRegistry()
	config, _ := broken{func() error { return nil }}.config()
	config.Registry = registry
	url := serve(t, config)
	for _, path := range []string{"/api/v1/vtu/transaction/1", "/api/v1/vtu/transaction/2", "/nowhere/1", "/nowhere/2"} {
		send(t, "GET", url+path, "", "Authorization", "Bearer let-me-in")
	}
	send(t, "BREW", url+"/nowhere/3", "")
	send(t, "POST", url+"/api/v1/auth/refresh-access-token/", "{}")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = int(m.GetCounter().GetValue()) + int(m.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]int{
		"kobo_http_requests_total GET /api/v1/vtu/transaction/{transactionId} 200": 2,
		"kobo_http_requests_total GET unknown 404":                                 2,
		"kobo_http_requests_total other unknown 404":                               1,
		"kobo_http_request_seconds GET /api/v1/vtu/transaction/{transactionId}":    2,
		"kobo_http_request_seconds GET unknown":                                    2,
		"kobo_http_request_seconds other unknown":                                  1,
		"kobo_http_requests_total POST /api/v1/auth/refresh-access-token/ 400":     1,
		"kobo_http_request_seconds POST /api/v1/auth/refresh-access-token/":        1,
		"kobo_auth_failures_total api":                                             1,
		"kobo_auth_failures_total admin":                                           0,
		"kobo_admin_forbidden_total":                                               0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := api.New(config); err == nil {
		t.Error("the same figures were registered twice")
	}
}

// A caller who disconnects before the response does not cause an error in the log.
func TestACallerWhoHangsUp(t *testing.T) {
	hung := make(chan struct{})
	config, log := broken{func() error { <-hung; return context.Canceled }}.config()
	h, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/events?wait=30", nil)
	r.Header.Set("Authorization", "Bearer let-me-in")
	go func() { hangUp(); close(hung) }()
	h.ServeHTTP(httptest.NewRecorder(), r)
	if text := log.String(); !strings.Contains(text, `"level":"INFO"`) || strings.Contains(text, "ERROR") {
		t.Error(text)
	}
}

// If the program does not know whether a commit succeeded, the response is a 503 and not an
// internal error. Retry-After states when the caller may retry.
func TestAnUnknownOutcomeIsA503(t *testing.T) {
	config, _ := broken{func() error { return fault.New(fault.Unknown, "ask again") }}.config()
	url := serve(t, config)
	for path, want := range map[string]string{
		"/api/v1/vtu/services":        `{"success":false,"message":"ask again"}`,
		"/api/v1/settlement/accounts": `{"status":"error","message":"ask again"}`,
	} {
		if answer, text := send(t, "GET", url+path, "", "Authorization", "Bearer let-me-in"); answer.StatusCode != 503 || answer.Header.Get("Retry-After") != "5" || strings.TrimSpace(text) != want {
			t.Errorf("%s: %d %s", path, answer.StatusCode, text)
		}
	}
}

// A trace span is named after the route and not after the path, as in the metrics.
func TestSpans(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	config, _ := broken{func() error { return nil }}.config()
	config.Traces = sdk.NewTracerProvider(sdk.WithSyncer(spans))
	send(t, "GET", serve(t, config)+"/api/v1/vtu/transaction/1", "", "Authorization", "Bearer let-me-in")
	if got := spans.GetSpans(); len(got) != 1 || got[0].Name != "GET /api/v1/vtu/transaction/{transactionId}" {
		t.Errorf("%v", got)
	}
}

// The reference page loads nothing from other servers. Its script is also served compressed.
func TestTheReferencePageNeedsNoOtherServer(t *testing.T) {
	config, _ := broken{func() error { return nil }}.config()
	url := serve(t, config)
	for _, path := range []string{"/docs", "/docs/start.js", "/openapi.json"} {
		if _, text := send(t, "GET", url+path, ""); strings.Contains(strings.ReplaceAll(text, "https://example.com/", ""), "https://") {
			t.Errorf("%s leads elsewhere", path)
		}
	}
	_, plain := send(t, "GET", url+"/docs/scalar.js", "", "Accept-Encoding", "identity")
	answer, packed := send(t, "GET", url+"/docs/scalar.js", "", "Accept-Encoding", "gzip")
	if len(packed) >= len(plain) || answer.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes packed, %d plain", len(packed), len(plain))
	}
	again, _ := send(t, "GET", url+"/docs/scalar.js", "", "If-None-Match", answer.Header.Get("ETag"))
	if diff := cmp.Diff(304, again.StatusCode); diff != "" {
		t.Error(diff)
	}
}
