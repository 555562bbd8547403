package provider

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The name of a call has no part that may be an identifier, such as an account number, an address or a
// transaction's hash.
func TestNamesOfCallsHaveNoIdentifiers(t *testing.T) {
	for path, want := range map[string]string{
		"/transfers/name-enquiry":                                 "GET /transfers/name-enquiry",
		"/oauth2/token":                                           "GET /oauth2/token",
		"/v3/ethereum/block/current":                              "GET /v3/ethereum/block/current",
		"/accounts/0123456789/statement?fromDate=2030-01-01":      "GET /accounts/:id/statement",
		"/cards/64b7f0a1c2d3e4f5a6b7c8d9":                         "GET /cards/:id",
		"/v3/tron/transaction/TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf": "GET /v3/tron/transaction/:id",
		"/requery/20300102-ab":                                    "GET /requery/:id",
		"/banks/%E2%82%A6":                                        "GET /banks/:id",
	} {
		if got := (Call{Method: "GET", Path: path}).name(); got != want {
			t.Errorf("%s: %s, not %s", path, got, want)
		}
	}
}

// Each call is counted once, with its repetitions, and with what became of it.
func TestCallsAreCounted(t *testing.T) {
	for status, want := range map[int]string{200: "ok", 404: "refused", 401: "denied", 503: CodeServerError} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		figures := NewFigures()
		c, err := NewClient(ClientConfig{BaseURL: s.URL, Meter: figures.Of("bank")})
		if err != nil {
			t.Fatal(err)
		}
		c.Read(t.Context(), list)
		c.Pay(t.Context(), post)
		s.Close()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(figures.Metrics()...)
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := f.GetName()[len("kobo_provider_call"):]
				for _, l := range m.GetLabel() {
					name += "|" + l.GetValue()
				}
				if strings.Contains(name, "0803") {
					t.Errorf("an identifier: %s", name)
				}
				got[name] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		for name, n := range map[string]float64{
			"s_total|GET /list|bank|" + want: 1, "s_total|POST /pay|bank|" + want: 1,
			"_seconds|GET /list|bank": 1, "_seconds|POST /pay|bank": 1,
		} {
			if got[name] != n {
				t.Errorf("HTTP %d: %s is %v, not %v: %v", status, name, got[name], n, got)
			}
		}
	}
}
