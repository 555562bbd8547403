package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// router takes the routes of the generated code. It puts the checks of an
// operation before its handler. Every path answers with and without its last
// slash, and nothing is redirected (completion.md §1).
type router struct {
	edge *edge
	err  error
}

// bare is a route without its last slash, as the contract names operations.
func bare(pattern string) string {
	return strings.TrimSuffix(strings.TrimSuffix(pattern, "{$}"), "/")
}

// HandleFunc adds one route of the contract.
func (t *router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	bare := bare(pattern)
	op, ok := t.edge.contract.operations[bare]
	if !ok {
		t.err = fmt.Errorf("contract: the generated route %q is not in openapi.yaml; run go generate", pattern)
		return
	}
	h := t.edge.admit(op, http.HandlerFunc(handler))
	t.edge.mux.Handle(bare, h)
	t.edge.mux.Handle(bare+"/{$}", h)
}

// ServeHTTP completes the interface that the generated code wants. Requests come in
// through the edge.
func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.edge.ServeHTTP(w, r) }

// route fills the mux: the operations, the handlers of the app, and the answer to
// all other requests.
func (e *edge) route() error {
	t := &router{edge: e}
	refuseOperation := func(w http.ResponseWriter, r *http.Request, err error) {
		refuse(w, r, callOf(r.Context()).op.family, err)
	}
	strict := NewStrictHandlerWithOptions(&handlers{e}, e.Around, StrictHTTPServerOptions{
		RequestErrorHandlerFunc: refuseOperation, ResponseErrorHandlerFunc: refuseOperation,
	})
	HandlerWithOptions(strict, StdHTTPServerOptions{
		BaseRouter: t,
		ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			refuseOperation(w, r, parameterFault(callOf(r.Context()).op, err))
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
			e.mux.Handle(bare, h) // or the mux would redirect, with a page of HTML
		}
	}
	e.mountReference()
	e.mux.HandleFunc("/", e.unknown)
	return t.err
}

// unknown answers an unknown path, or a method that the path does not have.
func (e *edge) unknown(w http.ResponseWriter, r *http.Request) {
	allowed := contract.Allowed(e.mux, r)
	if allowed == nil || !canonical(r.URL.EscapedPath()) {
		callOf(r.Context()).err = fault.New(fault.Missing, "no such path")
		contract.Write(w, http.StatusNotFound, problemBody{"error", "Not found"})
		return
	}
	callOf(r.Context()).err = fault.New(fault.Invalid, "no such method")
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	contract.Write(w, http.StatusMethodNotAllowed, problemBody{"error", "Method not allowed"})
}

// admit makes the checks of an operation before its handler runs. The order
// matters. An unknown caller's body is never read. A request that breaks a rule
// never uses its Idempotency-Key.
func (e *edge) admit(op *operation, handler http.Handler) http.Handler {
	if op.Idempotent {
		handler = e.once(handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.op = op
		if e.Closed != nil && e.Closed() {
			refuse(w, r, op.family, fault.New(fault.Unavailable, "the door is closed"))
			return
		}
		if op.Tokens {
			// Nothing on the way may keep an answer that shows a token.
			w.Header().Set("Cache-Control", "no-store")
			e.watchToken(w, c)
		}
		if !op.Open {
			identity, err := e.gate(r)
			if err != nil {
				refuse(w, r, auth, err)
				return
			}
			c.company = identity
			if !e.allowCompany(w, r, c) {
				return
			}
		}
		if !clean(r.URL.Path) {
			refuse(w, r, op.family, fault.New(fault.Invalid, "The path must be UTF-8 without control characters"))
			return
		}
		if err := mayRun(op, r); err != nil {
			refuse(w, r, op.family, err)
			return
		}
		if err := mayAsk(op, r); err != nil {
			refuse(w, r, op.family, err)
			return
		}
		if op.HasBody() {
			b, err := contract.Decode(w, r, isControl)
			if err == nil {
				err = op.Check(b)
			}
			if err != nil {
				refuse(w, r, op.family, err)
				return
			}
			c.body = b
		}
		onePage(r)
		handler.ServeHTTP(w, r)
	})
}
