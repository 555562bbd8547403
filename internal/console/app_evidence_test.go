package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The check of a ledger with very many new entries is answered with 503, and goes on with the next request. The page says so and shows
// all the rest. While the database is away, everything is answered so, and there is no such page.
func TestProofIsShownWhileEntriesAreAddedUp(t *testing.T) {
	for name, away := range map[string]bool{"entries are added up": false, "the database is away": true} {
		t.Run(name, func(t *testing.T) {
			company := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if away || r.URL.Path == "/api/v1/integrity" {
					w.WriteHeader(http.StatusServiceUnavailable)
					_, _ = w.Write([]byte(`{"status":"error","message":"Service temporarily unavailable"}`))
					return
				}
				_, _ = w.Write([]byte(`{"status":"success","data":{}}`))
			})
			shown, err := showEvidence(&visit{Request: httptest.NewRequest("GET", "/app/settings/proof", nil), console: &console{Config: Config{Company: company}}})
			if away {
				if err == nil {
					t.Error("a page is shown without the database")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := shown.body.Render(t.Context(), &text); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), "Adding up") || strings.Contains(text.String(), "does not agree") {
				t.Error(text.String())
			}
		})
	}
}
