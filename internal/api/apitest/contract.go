package apitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is an OpenAPI document with which tests compare responses.
type Contract struct {
	doc    *openapi3.T
	bodies bodies
}

// documents has the result of readContract for each document that the process has read.
var documents sync.Map

// ReadContract reads and checks an OpenAPI document. It reads each document once in a process, because that takes half a
// second, and hundreds of tests ask for the same one.
func ReadContract(text []byte) (*Contract, error) {
	known := string(text)
	once, _ := documents.LoadOrStore(known, sync.OnceValues(func() (*Contract, error) { return readContract([]byte(known)) }))
	return once.(func() (*Contract, error))()
}

func readContract(text []byte) (*Contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, err
	}
	components, err := plain(doc.Components)
	if err != nil {
		return nil, err
	}
	return &Contract{doc: doc, bodies: bodies{components: components, compiled: map[*openapi3.SchemaRef]*jsonschema.Schema{}}}, nil
}

// Operations returns the ids of all operations in the document, sorted.
func (c *Contract) Operations() []string {
	var out []string
	for _, item := range c.doc.Paths.Map() {
		for _, op := range item.Operations() {
			out = append(out, op.OperationID)
		}
	}
	slices.Sort(out)
	return out
}

// Operation returns the id of the operation that a request calls, or "" if there is none.
func (c *Contract) Operation(method, target string) string {
	if route := c.route(method, target); route != nil {
		return route.Operation.OperationID
	}
	return ""
}

// route finds the operation of a request, with or without a trailing slash. A fixed path takes
// precedence over a path with parameters.
func (c *Contract) route(method, target string) *routers.Route {
	path, _, _ := strings.Cut(target, "?")
	steps := strings.Split(strings.TrimSuffix(path, "/"), "/")
	var best *routers.Route
	for template, item := range c.doc.Paths.Map() {
		op := item.GetOperation(method)
		fits := slices.EqualFunc(strings.Split(strings.TrimSuffix(template, "/"), "/"), steps, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && got != ""
		})
		if op == nil || !fits {
			continue
		}
		if best == nil || strings.Count(template, "{") < strings.Count(best.Path, "{") {
			best = &routers.Route{Spec: c.doc, Path: template, PathItem: item, Method: method, Operation: op}
		}
	}
	return best
}

// Check compares a response of the companies' API with the document. It checks the status, the
// body and the headers. Only paths below /api/ belong to the contract.
func (c *Contract) Check(r *http.Request, status int, header http.Header, body []byte) error {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return nil
	}
	if header.Get("X-Request-Id") == "" {
		return errors.New("the answer has no X-Request-Id")
	}
	if err := errors.Join(c.Holds(r, status, header, body), c.named(r, status, header)); err != nil {
		return err
	}
	if status >= http.StatusBadRequest && header.Get("Kobo-Reason") == "" {
		return errors.New("the refusal has no Kobo-Reason")
	}
	if id := c.Operation(r.Method, r.URL.EscapedPath()); status == http.StatusOK && (id == "listEvents" || id == "findEvent") {
		return c.checkEvents(body)
	}
	return nil
}

// The method named checks the headers for the request id, for reasons, for replays and for rate limits. It
// returns an error if a response has such a header and the document does not list it.
func (c *Contract) named(r *http.Request, status int, header http.Header) error {
	route := c.route(r.Method, r.URL.EscapedPath())
	if route == nil {
		return nil
	}
	for _, name := range []string{"X-Request-Id", "Idempotent-Replayed", "Retry-After", "Kobo-Reason", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		if header.Get(name) != "" && !c.Names(r.Method, r.URL.EscapedPath(), status, name) {
			return fmt.Errorf("the contract does not say that %s may answer %d with %s", route.Operation.OperationID, status, name)
		}
	}
	return nil
}

// Names reports whether the document lists a header for a response.
func (c *Contract) Names(method, path string, status int, header string) bool {
	route := c.route(method, path)
	if route == nil {
		return false
	}
	answer := route.Operation.Responses.Status(status)
	return answer != nil && answer.Value.Headers[header] != nil
}

// Holds returns nil if a response agrees with the document.
func (c *Contract) Holds(r *http.Request, status int, header http.Header, body []byte) error {
	route := c.route(r.Method, r.URL.EscapedPath())
	if route == nil {
		if status != http.StatusNotFound && status != http.StatusMethodNotAllowed {
			return fmt.Errorf("the contract has no operation %s %s", r.Method, r.URL.Path)
		}
		return nil
	}
	if answer, schema := answerOf(route.Operation, r.Method, status, header); schema != nil {
		if err := errors.Join(c.bodies.headers(answer, header), c.bodies.check(schema, body)); err != nil {
			return fmt.Errorf("against the contract: %w", err)
		}
		return nil
	}
	err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
		Status:                 status,
		Header:                 header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	})
	if err != nil {
		return fmt.Errorf("against the contract: %w", err)
	}
	return nil
}

// Takes returns nil if the document allows a request with this body.
func (c *Contract) Takes(r *http.Request, body string) error {
	route := c.route(r.Method, r.URL.EscapedPath())
	if route == nil || route.Operation.RequestBody == nil {
		return nil
	}
	asked := r.Clone(r.Context())
	asked.Body = io.NopCloser(strings.NewReader(body))
	if body == "" {
		asked.Body = http.NoBody
	}
	input := &openapi3filter.RequestValidationInput{Request: asked, Route: route, Options: &openapi3filter.Options{MultiError: true}}
	if err := openapi3filter.ValidateRequestBody(r.Context(), input, route.Operation.RequestBody.Value); err != nil {
		return fmt.Errorf("against the contract: %w", err)
	}
	return nil
}
