package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
)

// Every operation refuses headers and a body that are too large, even if the operation takes no
// body. /openapi.json lists both error responses (431 and 413) with their headers.
func TestTheDocumentListsAnswersToLargeRequests(t *testing.T) {
	doc, written := decoded(t, served(t, nil, nil)), contract(t)
	config, _ := broken{func() error { return nil }}.config()
	system := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	config.Health, config.Ready, config.Metrics = system, system, system
	h, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range doc["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			for want, spoil := range map[int]func(*http.Request){
				http.StatusRequestHeaderFieldsTooLarge: func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("a", api.MaxHeader)) },
				http.StatusRequestEntityTooLarge:       func(r *http.Request) { r.ContentLength = 2<<20 + 1 },
			} {
				r := httptest.NewRequestWithContext(t.Context(), strings.ToUpper(method), strings.NewReplacer("{", "", "}", "").Replace(path), nil)
				spoil(r)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if err := written.Holds(r, w.Code, w.Header(), w.Body.Bytes()); w.Code != want || err != nil {
					t.Errorf("%s %s: %d, want %d: %v", method, path, w.Code, want, err)
				}
				for name := range w.Header() {
					if name != "Content-Type" && name != "Connection" && !written.Names(r.Method, r.URL.Path, w.Code, name) {
						t.Errorf("%s %s: the %d does not name %s", method, path, w.Code, name)
					}
				}
				seen++
			}
		}
	}
	if seen < 120 {
		t.Errorf("%d answers were seen", seen)
	}
}

// A caller who sends the current ETag of /openapi.json or of the documentation page gets a 304.
func TestAnUnchangedDocumentIsNotSentAgain(t *testing.T) {
	config, _ := broken{func() error { return nil }}.config()
	url, written := serve(t, config), contract(t)
	for _, path := range []string{"/openapi.json", "/docs"} {
		first, _ := send(t, "GET", url+path, "")
		again, text := send(t, "GET", url+path, "", "If-None-Match", first.Header.Get("ETag"))
		if err := written.Holds(again.Request, again.StatusCode, again.Header, []byte(text)); again.StatusCode != http.StatusNotModified || err != nil {
			t.Errorf("%s: %d, %v", path, again.StatusCode, err)
		}
		for _, answer := range []*http.Response{first, again} {
			if !written.Names("GET", path, answer.StatusCode, "ETag") {
				t.Errorf("%s: the %d does not name ETag", path, answer.StatusCode)
			}
		}
	}
}
