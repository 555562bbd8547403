package providertest

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Accident is what the wire does to one request instead of passing it on.
type Accident func(w http.ResponseWriter, r *http.Request, provider http.Handler)

// Wire stands between a plug and a provider's server. It counts what passes and
// lets accidents happen.
type Wire struct {
	URL string

	server   *httptest.Server
	provider http.Handler
	mu       sync.Mutex
	seen     []string
	planned  []plan
}

type plan struct {
	matches  func(*http.Request) bool
	accident Accident
	times    int
}

// NewWire serves the provider through a wire until the test ends.
func NewWire(t *testing.T, provider http.Handler) *Wire {
	w := &Wire{provider: provider}
	w.server = httptest.NewServer(w)
	w.URL = w.server.URL
	t.Cleanup(w.server.Close)
	return w
}

// Cut takes the provider off the net: nothing listens any more.
func (w *Wire) Cut() { w.server.Close() }

// Plan lets an accident happen to the next so many requests that match.
func (w *Wire) Plan(matches func(*http.Request) bool, times int, accident Accident) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned = append(w.planned, plan{matches, accident, times})
}

// Count is how many requests reached this wire whose "METHOD /path" contains s.
func (w *Wire) Count(s string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, line := range w.seen {
		if strings.Contains(line, s) {
			n++
		}
	}
	return n
}

// Sent is how many requests reached this wire at a path, or below one that ends
// with a slash.
func (w *Wire) Sent(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, line := range w.seen {
		if _, p, _ := strings.Cut(line, " "); at(p, path) {
			n++
		}
	}
	return n
}

func at(path, place string) bool {
	return path == place || strings.HasSuffix(place, "/") && strings.HasPrefix(path, place)
}

// ServeHTTP passes a request on, or has the accident that was planned for it.
func (w *Wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if accident := w.note(r); accident != nil {
		accident(out, r, w.provider)
		return
	}
	w.provider.ServeHTTP(out, r)
}

func (w *Wire) note(r *http.Request) Accident {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r.Method+" "+r.URL.Path)
	for i := range w.planned {
		if p := &w.planned[i]; p.times > 0 && p.matches(r) {
			p.times--
			return p.accident
		}
	}
	return nil
}

// Says answers in the provider's place, which never learns of the request.
func Says(status int, body string) Accident {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { say(w, status, body) }
}

// DoesAndSays lets the provider do its work and then answers something else.
func DoesAndSays(status int, body string) Accident {
	return func(w http.ResponseWriter, r *http.Request, provider http.Handler) {
		provider.ServeHTTP(httptest.NewRecorder(), r)
		say(w, status, body)
	}
}

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // a client that stops reading is part of the game
}

// Hides breaks the connection before the provider learns of the request.
func Hides(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// DoesAndHides lets the provider do its work and breaks the connection.
func DoesAndHides(_ http.ResponseWriter, r *http.Request, provider http.Handler) {
	provider.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// DoesAndHangs lets the provider do its work and keeps the answer until the
// caller gives up.
func DoesAndHangs(_ http.ResponseWriter, r *http.Request, provider http.Handler) {
	provider.ServeHTTP(httptest.NewRecorder(), r)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// DoesAndCuts lets the provider do its work and sends the first half of its
// answer.
func DoesAndCuts(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	whole := httptest.NewRecorder()
	provider.ServeHTTP(whole, r)
	body := whole.Body.Bytes()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", whole.Header().Get("Content-Length"))
	if whole.Header().Get("Content-Length") == "" {
		w.Header().Set("Content-Length", "4096")
	}
	w.WriteHeader(whole.Code)
	_, _ = w.Write(body[:len(body)/2]) // a client that stops reading is part of the game
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// DoesAndFloods lets the provider do its work and answers without end in sight.
func DoesAndFloods(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	DoesAndSays(http.StatusOK, `{"statusCode":200,"data":{"status":"successful","padding":"`+
		string(bytes.Repeat([]byte("x"), 2<<20))+`"}}`)(w, r, provider)
}

// isError tells whether err is the kind that calls without money must return.
func isError(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Provider != "" && e.Code != ""
}
