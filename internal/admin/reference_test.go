package admin_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api/apitest"
)

// described is the door's description, against which every answer of these tests
// is held (door.send).
var described = sync.OnceValues(func() (*apitest.Contract, error) {
	return apitest.ReadContract(admin.Document())
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

// Every operation may be asked wrongly or without a key, and each that takes a
// body may get one that is too large.
func TestTheDescriptionListsRefusals(t *testing.T) {
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
			for status, want := range map[string]bool{"400": true, "401": true, "413": method == "post"} {
				if _, has := op.Responses[status]; has != want {
					t.Errorf("%s %s: %s is listed: %v", method, path, status, has)
				}
			}
		}
	}
}

func TestTheDescriptionIsServed(t *testing.T) {
	w := httptest.NewRecorder()
	admin.Reference().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/admin/openapi.json", nil))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(w.Body.String(), `"/admin/v1/adjustments/{id}/reject"`) {
		t.Errorf("%d %v %.100s", w.Code, w.Header(), w.Body)
	}
}
