package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// router takes the routes of the generated code and puts each operation's
// checks before its handler. Every path answers with and without its last
// slash, and nothing is ever redirected (completion.md §1).
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

// ServeHTTP is part of the generator's idea of a router; requests come in
// through the edge.
func (t *router) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.edge.ServeHTTP(w, r) }

// route fills the mux: the operations, the doors that the app brought, and the
// answer to everything else.
func (e *edge) route() error {
	t := &router{edge: e}
	refuseOperation := func(w http.ResponseWriter, r *http.Request, err error) {
		refuse(w, r, callOf(r.Context()).op.family, err)
	}
	strict := NewStrictHandlerWithOptions(&handlers{e}, nil, StrictHTTPServerOptions{
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
			e.mux.Handle(bare, h) // or it would be redirected, by a page of HTML
		}
	}
	e.mountReference()
	e.mux.HandleFunc("/", e.unknown)
	return t.err
}

// unknown answers a path that is not there, or a method that its path does not have.
func (e *edge) unknown(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		probe := *r
		probe.Method = method
		if _, pattern := e.mux.Handler(&probe); pattern != "" && pattern != "/" && canonical(r.URL.EscapedPath()) {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		callOf(r.Context()).err = fault.New(fault.Missing, "no such path")
		write(w, http.StatusNotFound, problemBody{"error", "Not found"})
		return
	}
	callOf(r.Context()).err = fault.New(fault.Invalid, "no such method")
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	write(w, http.StatusMethodNotAllowed, problemBody{"error", "Method not allowed"})
}

// admit is everything an operation asks for before its handler runs. The order
// matters: nothing is read from a caller who is not let in, and an
// Idempotency-Key is opened only for a request that keeps the rules.
func (e *edge) admit(op *operation, handler http.Handler) http.Handler {
	if op.idempotent {
		handler = e.once(handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.op = op
		if e.Closed != nil && e.Closed() {
			refuse(w, r, op.family, fault.New(fault.Unavailable, "the door is closed"))
			return
		}
		if op.tokens {
			// Nothing on the way may keep an answer that shows a token.
			w.Header().Set("Cache-Control", "no-store")
			e.watchToken(w, c)
		}
		if !op.open {
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
		if op.rules != nil {
			b, err := readBody(w, r, op.rules)
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
