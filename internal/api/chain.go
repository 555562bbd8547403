package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/peer"
)

// call is what the edge knows about one request while it passes through.
type call struct {
	id      string
	request *http.Request
	address string      // where the request comes from
	header  http.Header // of the answer
	op      *operation  // nil: no operation of the contract
	company string      // empty before the gate
	body    *body       // nil: the operation takes none
	err     error       // what was refused, for the log line
	// failed counts a refusal of a token operation, and may say another one.
	failed func(*fault.Fault) *fault.Fault
}

type callKey struct{}

// callOf is the call a context belongs to.
func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return &call{} // a handler used without the edge, in a test
	}
	return c
}

// ServeHTTP is where every request comes in and leaves.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := e.Clock.Now()
	c := &call{id: requestID(r)}
	rec := &recorder{ResponseWriter: w}
	rec.Header().Set("X-Request-Id", c.id)
	c.header, c.address = rec.Header(), e.client(r)
	r = r.WithContext(context.WithValue(peer.With(r.Context(), c.address), callKey{}, c))
	c.request = r
	defer func() {
		p := recover()
		// An answer that was cut off on purpose is logged and counted too.
		cut := p == http.ErrAbortHandler
		if p != nil && !cut {
			e.recovered(rec, r, c, p)
		}
		hangUp(rec)
		e.finish(rec, r, c, e.Clock.Now().Sub(start))
		if cut {
			panic(p)
		}
	}()
	if !e.fits(rec, r) || !e.bodyFits(rec, r) {
		return
	}
	if !canonical(r.URL.EscapedPath()) {
		e.unknown(rec, r) // ServeMux would redirect to the clean path
		return
	}
	if !e.allowCallback(rec, r) {
		return
	}
	e.mux.ServeHTTP(rec, r)
}

// client is where a request comes from. Once it is told that somebody forwards
// requests whose word is not taken: all their callers share one address.
func (e *edge) client(r *http.Request) string {
	address, unheard := e.Proxies.Client(r)
	if unheard && e.warned.CompareAndSwap(false, true) {
		e.Log.WarnContext(r.Context(), "X-Forwarded-For or Forwarded comes from an address that trusted_proxies does not name, and is not heeded",
			"address", address)
	}
	return address
}

// recovered answers a panic as our own mistake, in the operation's dress.
func (e *edge) recovered(rec *recorder, r *http.Request, c *call, p any) {
	e.Log.ErrorContext(r.Context(), "panic", "request_id", c.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	c.err = fault.New(fault.Internal, "panic")
	if rec.status != 0 {
		return // the answer has begun
	}
	f := account
	if c.op != nil {
		f = c.op.family
	}
	refuse(rec, r, f, c.err)
}

// probes are asked every few seconds by machines.
var probes = []string{"/healthz", "/readyz", "/metrics"}

// finish writes the request's one log line and counts it. Query strings,
// headers and bodies may hold secrets and are left out.
func (e *edge) finish(rec *recorder, r *http.Request, c *call, took time.Duration) {
	route := r.Pattern
	if c.op != nil {
		route = c.op.path
	} else if route == "" || route == "/" {
		route = "unknown"
	}
	e.figures.count(r.Method, route, rec.code(), took)
	if e.Traces != nil {
		trace.SpanFromContext(r.Context()).SetName(r.Method + " " + route)
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("route", route), slog.Int("status", rec.code()),
		slog.Duration("took", took), slog.String("request_id", c.id),
		slog.String("address", c.address),
	}
	if c.company != "" {
		attrs = append(attrs, slog.String("company", c.company))
	}
	level := slog.LevelInfo
	if c.err != nil {
		kind := fault.Of(c.err).Kind
		attrs = append(attrs, slog.String("refused", string(kind)))
		if ours := rec.code() >= 500 || kind == fault.Internal; ours && r.Context().Err() == nil {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", c.err.Error()))
		}
	} else if slices.Contains(probes, r.URL.Path) {
		level = slog.LevelDebug
	}
	e.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// requestID is the caller's id when it is sane, or a fresh one.
func requestID(r *http.Request) string {
	sent := r.Header.Get("X-Request-Id")
	if sent == "" || len(sent) > 128 {
		return id.New()
	}
	for _, c := range []byte(sent) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return id.New()
		}
	}
	return sent
}

// canonical tells whether ServeMux takes the path as it is. It takes an escaped
// slash that stands alone for the last slash: an id "/" would be the list of all.
func canonical(p string) bool {
	if strings.Contains(strings.ToLower(p)+"/", "/%2f/") {
		return false
	}
	return strings.HasPrefix(p, "/") && (p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}

// clean tells whether a text from the address can be kept and looked up.
func clean(s string) bool { return utf8.ValidString(s) && !unprintable(s) }

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader keeps the first final status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write is a 200 when no status came before it.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
