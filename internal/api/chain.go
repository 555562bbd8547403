package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/peer"
)

// call holds the data of one request while the API handles the request.
type call struct {
	id      string
	request *http.Request
	address string              // the caller's address
	header  http.Header         // the response header
	op      *contract.Operation // nil if the path is not an operation of the contract
	family  family              // the group of endpoints with the same format of error responses
	company string              // empty before authentication
	apiKey  string              // the id of the API key from which the access token comes
	body    *contract.Body      // nil if the operation takes no body
	key     *idempotency.Key    // nil if the request has no Idempotency-Key
	err     error               // the reason for a refusal, for the log line
	reason  fault.Reason        // the word of the header Kobo-Reason; "" sends no header
	// reference is the company that a failed request for tokens names, for the log line. The company
	// may be unknown.
	reference string
	// failed counts a failed request for tokens against the caller's address. It returns the fault
	// to send: the given fault or, over the limit, a 429. failed is nil if the request is not for
	// tokens.
	failed func(*fault.Fault) *fault.Fault
}

type callKey struct{}

// callOf returns the call of the request to which a context belongs.
func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return &call{} // a test may call a handler directly, without ServeHTTP
	}
	return c
}

// enter records the operation that a request calls. For a path outside the contract, op is nil and
// enter changes nothing.
func (c *call) enter(op *contract.Operation) {
	if op != nil {
		c.op, c.family = op, family(op.Family)
	}
}

// refused records why a request is refused: for the log line, and for the header Kobo-Reason.
func (c *call) refused(why *fault.Fault) { c.err, c.reason = why, why.Reason() }

// explain adds the header Kobo-Reason to a 200 response for a result without success, such as a payout
// whose outcome is unknown, or a dry run that foresees a refusal.
func (c *call) explain(result any) { c.reason = reasonOf(result) }

// reasonOf returns the word of the header Kobo-Reason for a result, or "" for a success.
func reasonOf(result any) fault.Reason {
	if r, ok := result.(interface{ Reason() fault.Reason }); ok {
		return r.Reason()
	}
	return ""
}

// noStore forbids every cache to store a response that shows a secret.
func (c *call) noStore() { c.header.Set("Cache-Control", "no-store") }

// ServeHTTP serves every request of the program.
func (e *edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := e.Clock.Now()
	c := &call{id: requestID(r), family: account}
	rec := &recorder{ResponseWriter: w, call: c, status: http.StatusOK}
	rec.Header().Set("X-Request-Id", c.id)
	c.header, c.address = rec.Header(), e.client(r)
	ctx := r.Context()
	if e.Bound != nil {
		ctx = e.Bound(r)
	}
	r = r.WithContext(context.WithValue(peer.With(ctx, c.address), callKey{}, c))
	c.request = r
	defer func() {
		p := recover()
		// A response that was aborted on purpose is also logged and counted.
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
	switch {
	case e.Serves != nil && !e.Serves(r):
		missing(rec, r)
	case !e.fits(rec, r) || !e.bodyFits(rec, r):
	case !canonical(r.URL.EscapedPath()):
		e.unknown(rec, r) // ServeMux would redirect to the clean path
	case e.allowCallback(rec, r):
		e.mux.ServeHTTP(rec, r)
	}
}

// client returns the address of the caller. The first time that an untrusted proxy forwards a
// request, client logs a warning: all callers behind that proxy share one address.
func (e *edge) client(r *http.Request) string {
	address, untrusted := e.Proxies.Client(r)
	if untrusted && e.warned.CompareAndSwap(false, true) {
		e.Log.WarnContext(r.Context(), "ignored X-Forwarded-For or Forwarded: trusted_proxies does not name the proxy", "address", address)
	}
	return address
}

// recovered logs a panic and responds with an internal error.
func (e *edge) recovered(rec *recorder, r *http.Request, c *call, p any) {
	e.Log.ErrorContext(r.Context(), "panic", "request_id", c.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	why := fault.New(fault.Internal, "panic")
	c.refused(why)
	if !rec.begun {
		refuse(rec, r, why)
	}
}

// probes are paths that machines request every few seconds.
var probes = []string{"/healthz", "/readyz", "/metrics"}

// finish writes the log line of a request and counts the request. The line has no query,
// headers or bodies, because these may contain secrets.
func (e *edge) finish(rec *recorder, r *http.Request, c *call, took time.Duration) {
	route := r.Pattern
	if c.op != nil {
		route = c.op.Path
	} else if route == "" || route == "/" {
		route = "unknown"
	}
	e.figures.count(r.Method, route, rec.status, took)
	e.journal(r, c, rec.status, took)
	if e.Traces != nil {
		trace.SpanFromContext(r.Context()).SetName(r.Method + " " + route)
	}
	attrs := append(make([]slog.Attr, 0, 11),
		slog.String("method", r.Method), slog.String("route", route), slog.Int("status", rec.status),
		slog.Duration("took", took), slog.String("request_id", c.id),
		slog.String("address", c.address),
	)
	if c.company != "" {
		attrs = append(attrs, slog.String("company", c.company))
	}
	if operator := peer.OperatorOf(r.Context()); operator != "" {
		attrs = append(attrs, slog.String("operator", operator))
	}
	if c.reference != "" {
		attrs = append(attrs, slog.String("reference", c.reference))
	}
	level := slog.LevelInfo
	if c.err != nil {
		kind := fault.Of(c.err).Kind
		attrs = append(attrs, slog.String("refused", string(kind)))
		if ours := rec.status >= 500 || kind == fault.Internal; ours && r.Context().Err() == nil {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", c.err.Error()))
		}
	} else if slices.Contains(probes, r.URL.Path) {
		level = slog.LevelDebug
	}
	e.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// idShape matches a request id that the caller may choose.
var idShape = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// requestID returns the id that the caller sent, or a new id if the sent id is not valid.
func requestID(r *http.Request) string {
	if sent := r.Header.Get("X-Request-Id"); idShape.MatchString(sent) {
		return sent
	}
	return id.New()
}

// canonical reports whether ServeMux serves a path as it is, without a redirect. If an id in the path
// is only an escaped slash (%2F), canonical returns false, because ServeMux would read this slash as
// the trailing slash of a list.
func canonical(p string) bool {
	if strings.Contains(p, "%") && strings.Contains(strings.ToLower(p)+"/", "/%2f/") {
		return false
	}
	return strings.HasPrefix(p, "/") && (p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}

// clean reports whether the database accepts a text from the URL.
func clean(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, isControl) }

// recorder records the status of a response, and adds the header Kobo-Reason.
type recorder struct {
	http.ResponseWriter
	call   *call
	status int // 200 until the handler sets a different status
	begun  bool
}

// WriteHeader records the first status that is not informational (1xx).
func (r *recorder) WriteHeader(status int) {
	if !r.begun && status >= 200 {
		r.status, r.begun = status, true
		if word := r.call.reason; word != "" {
			r.Header().Set("Kobo-Reason", string(word))
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write begins the response, if WriteHeader has not done so.
func (r *recorder) Write(b []byte) (int, error) {
	r.begun = true
	return r.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
