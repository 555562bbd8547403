package providertest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// Accident handles one request in place of the provider, to simulate a failure.
type Accident func(w http.ResponseWriter, r *http.Request, provider http.Handler)

// Wire is an HTTP server between a plug and a provider's server. It counts requests and simulates
// failures.
type Wire struct {
	URL string

	server   *httptest.Server
	provider http.Handler
	mu       sync.Mutex
	seen     []string
	planned  []plan
	conns    []*net.TCPConn
	open     sync.WaitGroup // the connections that are open
}

type plan struct {
	matches  func(*http.Request) bool
	accident Accident
	times    int
}

// NewWire serves a provider through a new Wire until the test ends.
func NewWire(t *testing.T, provider http.Handler) *Wire {
	w := &Wire{provider: provider}
	w.server = httptest.NewUnstartedServer(w)
	if own := ownAddress(); own != nil {
		_ = w.server.Listener.Close() // it has no connection yet
		w.server.Listener = own
	}
	w.server.Config.ConnState = w.changed
	w.server.Start()
	w.URL = w.server.URL
	t.Cleanup(w.server.Close)
	return w
}

// ownAddress listens at a loopback address of chance, which is never 127.0.0.1. After a Cut, another
// server at the same address could get the port and answer in its place. It returns nil where the
// machine has no loopback address but 127.0.0.1.
func ownAddress() net.Listener {
	n := rand.Uint32()
	host := net.IPv4(127, byte(n>>16)|1, byte(n>>8), 2+byte(n)%250)
	l, err := net.Listen("tcp", net.JoinHostPort(host.String(), "0"))
	if err != nil {
		return nil
	}
	return l
}

// Cut closes the server, so that no connection is possible. It waits until each client has noticed
// the end of its open connections. Otherwise the outcome of the next request would depend on chance.
func (w *Wire) Cut() {
	_ = w.server.Listener.Close() // closed again below
	w.mu.Lock()
	for _, c := range w.conns {
		_ = c.CloseWrite() // an error means that the connection is closed already
	}
	w.mu.Unlock()
	w.open.Wait()
	w.server.Close()
}

// changed counts the open connections.
func (w *Wire) changed(c net.Conn, to http.ConnState) {
	switch to {
	case http.StateNew:
		w.open.Add(1)
		w.mu.Lock()
		w.conns = append(w.conns, c.(*net.TCPConn))
		w.mu.Unlock()
	case http.StateClosed, http.StateHijacked:
		w.open.Done()
	}
}

// Plan makes the given accident happen to the next requests for which matches returns true. It
// happens at most the given number of times.
func (w *Wire) Plan(matches func(*http.Request) bool, times int, accident Accident) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planned = append(w.planned, plan{matches, accident, times})
}

// Count returns the number of requests so far whose "METHOD /path" contains s.
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

// Sent returns the number of requests so far to a path. A path that ends with a slash includes all
// paths below it.
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

// ServeHTTP passes a request on to the provider, or lets the planned accident handle the request.
func (w *Wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if accident := w.planFor(r); accident != nil {
		accident(out, r, w.provider)
		return
	}
	w.provider.ServeHTTP(out, r)
}

// planFor counts a request and returns the accident planned for it, or nil.
func (w *Wire) planFor(r *http.Request) Accident {
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

// Deadlines returns the deadlines of a plug for calls that move money and for reads. They are long,
// since a machine may be slow, but in the subtests "no answer in time", which wait for them.
func Deadlines(t *testing.T) (pay, read time.Duration) {
	if strings.Contains(t.Name(), "/no_answer_in_time") {
		return 1500 * time.Millisecond, 3 * time.Second
	}
	return time.Minute, time.Minute
}

// Says returns an Accident that responds in place of the provider. The provider never receives the
// request.
func Says(status int, body string) Accident {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { say(w, status, body) }
}

// DoesAndSays returns an Accident that lets the provider carry out the request, and then sends a
// different response.
func DoesAndSays(status int, body string) Accident {
	return func(w http.ResponseWriter, r *http.Request, provider http.Handler) {
		provider.ServeHTTP(httptest.NewRecorder(), r)
		say(w, status, body)
	}
}

func say(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may stop reading
}

// Hides breaks the connection before the provider sees the request.
func Hides(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// DoesAndHides lets the provider carry out the request, and then breaks the connection.
func DoesAndHides(_ http.ResponseWriter, r *http.Request, provider http.Handler) {
	provider.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// DoesAndHangs lets the provider carry out the request, and then withholds the response until the
// caller gives up.
func DoesAndHangs(_ http.ResponseWriter, r *http.Request, provider http.Handler) {
	provider.ServeHTTP(httptest.NewRecorder(), r)
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// DoesAndCuts lets the provider carry out the request, and sends only the first half of the
// response.
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
	_, _ = w.Write(body[:len(body)/2]) // the client may stop reading
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// DoesAndFloods lets the provider carry out the request, and sends a very long response.
func DoesAndFloods(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	DoesAndSays(http.StatusOK, `{"statusCode":200,"data":{"status":"successful","padding":"`+
		string(bytes.Repeat([]byte("x"), 2<<20))+`"}}`)(w, r, provider)
}

// isError reports whether err is a complete *provider.Error. Calls that move no money must return
// such an error.
func isError(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Provider != "" && e.Code != ""
}
