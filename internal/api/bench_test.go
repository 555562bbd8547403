package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// stub is a StrictMiddlewareFunc. Purchases of airtime and the list of services do not reach their
// business services, so that only the work of the API remains.
func stub(next api.StrictHandlerFunc, operation string) api.StrictHandlerFunc {
	var response any
	switch operation {
	case "PurchaseAirtime":
		message := "Airtime purchase successful"
		response = api.PurchaseAirtime200JSONResponse{Success: true, Message: &message, Data: vtu.Bought{}}
	case "ListServices":
		response = api.ListServices200JSONResponse{Success: true, Data: []api.Service{}}
	default:
		return next
	}
	return func(context.Context, http.ResponseWriter, *http.Request, any) (any, error) { return response, nil }
}

const order = `{"idempotencyKey": "order-2030-01-02-000017", "serviceCategoryId": "61efacbcda92348f9dde5f96",` +
	` "phoneNumber": "08012345678", "amount": 200.5, "settlementId": 1}`

// BenchmarkEdge measures the API in process: from a parsed request to the written response, without
// a connection. The sub-benchmarks "read" and "purchase" never reach a business service.
func BenchmarkEdge(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		w := newWorldOn(b, d)
		w.Around = []api.StrictMiddlewareFunc{stub}
		w.Log, w.Registry = slog.New(slog.NewJSONHandler(io.Discard, nil)), prometheus.NewRegistry()
		w.Limits.Company.Requests, w.Limits.Company.Burst = 10_000_000, 100_000_000
		h, err := api.New(w.Config)
		if err != nil {
			b.Fatal(err)
		}
		token := accessToken(b, w.stage.Companies, w.reference, w.given["api_key"])
		for _, one := range []struct{ name, method, path, body string }{
			{"read", "GET", "/api/v1/vtu/services", ""},
			{"purchase", "POST", "/api/v1/vtu/purchase-airtime", order},
			{"settlement", "GET", "/api/v1/settlement/accounts", ""},
		} {
			b.Run(one.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequest(one.method, one.path, strings.NewReader(one.body))
					r.Header.Set("Authorization", "Bearer "+token)
					r.Header.Set("Content-Type", "application/json")
					rec := httptest.NewRecorder()
					h.ServeHTTP(rec, r)
					if rec.Code != http.StatusOK {
						b.Fatal(rec.Code, rec.Body)
					}
				}
			})
		}
	})
}

func accessToken(t testing.TB, companies *company.Service, reference, key string) string {
	t.Helper()
	token, _, err := companies.Tokens(t.Context(), reference, key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
