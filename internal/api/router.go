package api

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// deed matches the route of a card that ends with a word, such as /card/{cardId}/freeze. One mux of
// net/http cannot hold such a route beside /card/get-card/{cardId}, since both match
// /card/get-card/freeze. So a second mux holds these routes, and gets the requests that the first mux
// does not know.
var deed = regexp.MustCompile(`/card/\{cardId\}/[a-z]+$`)

// router registers the routes of the generated code. Before each handler it runs the checks of
// the operation. Every path works with and without a trailing slash. No request is redirected
// (completion.md §1).
type router struct {
	edge *edge
	err  error
}

// bare returns a route without its trailing slash. The contract names operations in this form.
func bare(pattern string) string {
	return strings.TrimSuffix(strings.TrimSuffix(pattern, "{$}"), "/")
}

// HandleFunc adds one route of the contract.
func (t *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	bare := bare(pattern)
	op, ok := t.edge.contract.Operations[bare]
	if !ok {
		t.err = fmt.Errorf("contract: the generated route %q is not in openapi.yaml; run go generate", pattern)
		return
	}
	h := t.edge.admit(op, http.HandlerFunc(handler))
	mux := t.edge.mux
	if deed.MatchString(bare) {
		mux = t.edge.deeds
	}
	mux.Handle(bare, h)
	mux.Handle(bare+"/{$}", h)
}

// ServeHTTP completes the router interface of the generated code. No request is routed through it.
func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.edge.ServeHTTP(w, r) }

// route registers the operations, the handlers from Config, and the handler for all other
// requests.
func (e *edge) route() error {
	t := &router{edge: e}
	strict := NewStrictHandlerWithOptions(&handlers{e}, e.Around, StrictHTTPServerOptions{
		RequestErrorHandlerFunc: refuse, ResponseErrorHandlerFunc: refuse,
	})
	HandlerWithOptions(strict, StdHTTPServerOptions{
		BaseRouter: t,
		ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			refuse(w, r, parameterFault(callOf(r.Context()).family, r, err))
		},
	})
	for pattern, h := range map[string]http.Handler{"GET /healthz": e.Health, "GET /readyz": e.Ready, "GET /metrics": e.Metrics} {
		if h != nil {
			e.mux.Handle(pattern, h)
		}
	}
	for pattern, h := range e.Mounts {
		e.mux.Handle(pattern, h)
		if bare, below := strings.CutSuffix(pattern, "/"); below {
			e.mux.Handle(bare, h) // otherwise the mux would redirect with an HTML page
		}
	}
	e.mountReference()
	e.mux.Handle("/", e.deeds)
	e.deeds.HandleFunc("/", e.unknown)
	return t.err
}

// pattern returns the pattern of the route that serves a request, or "/" if no route does.
func (e *edge) pattern(r *http.Request) string {
	_, pattern := e.mux.Handler(r)
	if pattern == "/" {
		_, pattern = e.deeds.Handler(r)
	}
	return pattern
}

// unknown refuses an unknown path, or a method that the path does not have.
func (e *edge) unknown(w http.ResponseWriter, r *http.Request) {
	allowed := append(contract.Allowed(e.mux, r), contract.Allowed(e.deeds, r)...)
	if allowed == nil || !canonical(r.URL.EscapedPath()) {
		missing(w, r)
		return
	}
	callOf(r.Context()).refused(fault.New(fault.Invalid, "no such method").With(fault.MethodNotAllowed))
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	contract.Write(w, http.StatusMethodNotAllowed, problem("Method not allowed"))
}

// missing refuses an unknown path.
func missing(w http.ResponseWriter, r *http.Request) {
	callOf(r.Context()).refused(fault.New(fault.Missing, "no such path").With(fault.PathNotFound))
	contract.Write(w, http.StatusNotFound, problem("Not found"))
}

// admit returns a handler that runs the checks of an operation before its handler.
func (e *edge) admit(op *contract.Operation, handler http.Handler) http.Handler {
	if op.Idempotent {
		handler = e.once(handler)
	}
	handler = masked(op, handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.enter(op)
		if err := e.check(w, r, c); err != nil {
			refuse(w, r, err)
			return
		}
		if e.At != nil {
			if ctx := e.At(r.Context(), c.company); ctx != r.Context() {
				r = r.WithContext(ctx)
			}
		}
		onePage(r)
		handler.ServeHTTP(w, r)
	})
}

// check refuses a request before its handler runs. The order of the checks matters. The body of
// an unauthenticated caller is never read. A request that breaks a rule never uses its
// Idempotency-Key.
func (e *edge) check(w http.ResponseWriter, r *http.Request, c *call) (err error) {
	if e.Closed != nil && e.Closed() && !isReading(r) {
		return fault.New(fault.Unavailable, "API access is closed")
	}
	if c.op.Tokens {
		c.noStore()
		e.watchToken(c)
	}
	if !c.op.Open {
		caller, err := e.gate(r, c.op)
		if err != nil {
			c.family = auth
			return err
		}
		c.company, c.apiKey = caller.Reference, caller.KeyID
		if err := e.takeRequest(r, caller); err != nil {
			return err
		}
	}
	if !clean(r.URL.Path) {
		return fault.New(fault.Invalid, "The path must be UTF-8 without control characters")
	}
	if err := mayRun(c.op, r); err != nil {
		return err
	}
	if err := mayAsk(c.op, r); err != nil || !c.op.HasBody() {
		return err
	}
	if c.body, err = contract.Decode(w, r, c.op.MaxBody, isControl); err != nil {
		return err
	}
	return c.op.Check(c.body)
}
