package admin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
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

// described is the door's description, against which every answer of these tests
// is held (door.send).
var described = sync.OnceValues(func() (*apitest.Contract, error) {
	text, err := admin.Document()
	if err != nil {
		return nil, err
	}
	return apitest.ReadContract(text)
})

// shown are the operations that a test saw succeed.
var shown sync.Map

// TestMain wants every operation to have been seen to succeed when all tests ran.
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

func TestEveryRouteIsDescribed(t *testing.T) {
	c, err := described()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, route := range admin.Routes() {
		method, path, _ := strings.Cut(route, " ")
		id := c.Operation(method, "/admin/v1"+path)
		if id == "" || seen[id] {
			t.Errorf("%s is not described (%q)", route, id)
		}
		seen[id] = true
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, c.Operations()) {
		t.Errorf("the door has %q, and described are %q", got, c.Operations())
	}
}

// Every operation may be asked wrongly, without a key, and too often without one.
// Each may get a body that is too large, though it takes none.
func TestTheDescriptionListsRefusals(t *testing.T) {
	text, err := admin.Document()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
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

// An address without a right key hears 401 and then 429, as the description says
// of both. The description names each header that tells of a limit.
func TestTheDescriptionTellsOfTheLimit(t *testing.T) {
	c, err := described()
	if err != nil {
		t.Fatal(err)
	}
	h := admin.New(admin.Config{
		Clock: clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), Log: slog.New(slog.DiscardHandler), Failed: &limit.Limit{Requests: 1, Period: time.Minute, Burst: 1},
	})
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

func TestTheDescriptionIsServed(t *testing.T) {
	h, err := admin.Reference()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/admin/openapi.json", nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(w.Body.String(), `"/admin/v1/adjustments/{id}/reject"`) {
		t.Errorf("%d %v %.100s", w.Code, w.Header(), w.Body)
	}
}
