package admin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api/apitest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
)

// described returns the contract. door.send compares every response with it.
var described = sync.OnceValues(func() (*apitest.Contract, error) {
	return apitest.ReadContract(admin.Document())
})

// shown holds the ids of the operations that have succeeded in a test.
var shown sync.Map

// TestMain fails if all tests ran but some operation never succeeded.
func TestMain(m *testing.M) {
	code := m.Run()
	if c, err := described(); err == nil && code == 0 && flag.Lookup("test.run").Value.String() == "" {
		for _, id := range c.Operations() {
			if _, seen := shown.Load(id); !seen {
				fmt.Fprintf(os.Stderr, "%s: no test shows it succeed\n", id)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// Every operation may respond with 400, 401, 413 and 429, even an operation without a body.
func TestEveryOperationListsItsRefusals(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(admin.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method, raw := range item {
			var op struct {
				Responses map[string]any
			}
			if method == "parameters" {
				continue
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatal(err)
			}
			for status, want := range map[string]bool{"400": true, "401": true, "413": true, "429": true} {
				if _, has := op.Responses[status]; has != want {
					t.Errorf("%s %s: %s is listed: %v", method, path, status, has)
				}
			}
		}
	}
}

// Requests without a valid key from one address get a 401 and, over the limit, a 429. The document
// describes both responses and their rate-limit headers.
func TestTheDocumentDescribesTheRateLimit(t *testing.T) {
	c, err := described()
	if err != nil {
		t.Fatal(err)
	}
	h, err := admin.New(admin.Config{
		Clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Log: slog.New(slog.DiscardHandler), Failed: &limit.Limit{Requests: 1, Period: time.Minute, Burst: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	limited := []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
	for i, want := range []int{http.StatusUnauthorized, http.StatusTooManyRequests} {
		r := httptest.NewRequest(http.MethodGet, "/admin/v1/companies", nil)
		r = r.WithContext(peer.With(r.Context(), "203.0.113.9"))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Fatalf("request %d: %d %s", i+1, w.Code, w.Body)
		}
		if err := c.Holds(r, w.Code, w.Header(), w.Body.Bytes()); err != nil {
			t.Error(err)
		}
		headers := limited
		if want == http.StatusTooManyRequests {
			headers = append(headers, "Retry-After")
		}
		for _, name := range headers {
			if w.Header().Get(name) == "" || !c.Names("GET", "/admin/v1/companies", want, name) {
				t.Errorf("%d: %s is %q, and described: %v", want, name, w.Header().Get(name), c.Names("GET", "/admin/v1/companies", want, name))
			}
		}
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	w := httptest.NewRecorder()
	admin.Reference().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/admin/openapi.json", nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(w.Body.String(), `"/admin/v1/adjustments/{id}/reject"`) {
		t.Errorf("%d %v %.100s", w.Code, w.Header(), w.Body)
	}
}
