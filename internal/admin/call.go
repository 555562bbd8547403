package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// API is the operators' API.
type API struct{ edge *edge }

// ServeHTTP serves a request with an operator's key.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.edge.mux.ServeHTTP(w, r) }

// NeedsProof reports whether a person at the console must have proved recently who they are, to run an
// operation: an act on money, keys or people, or a part of its approval.
func (a *API) NeedsProof(id string) bool {
	op := a.edge.operations[id]
	return op != nil && !a.edge.reads[id] && (op.FourEyes != "" || op.Role == string(operator.Admin) || slices.Contains(ofProposals, id))
}

// ofProposals are the operations whose acts are those of a proposal.
var ofProposals = []string{"createProposal", "approveProposal", "renewToken"}

// NeedsNewProof reports whether the proof must come with the act itself: the operation approves what another operator has asked
// for, or makes a secret. An earlier proof says only that the person was there. Without four eyes, an act that would wait
// for a second operator is its own approval.
func (a *API) NeedsNewProof(id string) bool {
	op := a.edge.operations[id]
	return op != nil && !a.edge.reads[id] && (slices.Contains(ofDecisions, id) || !a.edge.FourEyes && op.FourEyes != "")
}

// ofDecisions are the operations that approve something or make a secret, whether or not four eyes are on. The same finding
// by a second operator resolves a case, so resolveCase is one of them.
var ofDecisions = []string{"approveProposal", "approveAdjustment", "approveCase", "resolveCase", "createCompany", "setPIN", "renewToken"}

// Input is what a caller within the program gives to an operation.
type Input struct {
	Path  map[string]string // the parts of the path, such as "reference"
	Query url.Values
	Body  any    // written as JSON; nil for no body
	Form  string // the number of the form of a page, or ""; what a form makes exists once, however often it is sent
}

// Call runs an operation of the contract for an operator whom the caller has authenticated. The rules
// are those of a request over HTTP: role, filters, body, four eyes and audit. Call decodes the
// response field data into out, unless out is nil. If the act waits for a second operator, waits is
// true, and out receives the proposal. A refusal is a *fault.Fault.
func (a *API) Call(ctx context.Context, by operator.Operator, id string, in Input, out any) (waits bool, err error) {
	r, err := a.request(ctx, by, id, in)
	if err != nil {
		return false, err
	}
	data, err := a.edge.permitted(nobody{}, r)
	if err != nil {
		return false, err
	}
	_, waits = data.(accepted)
	if out == nil {
		return waits, nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return waits, err
	}
	return waits, json.Unmarshal(text, out)
}

// Preview is what an operation would do.
type Preview struct {
	// Was is the present value of what would change, in words. "" if the operation changes no earlier value.
	Was string
	// Waits is true if a second operator would have to approve.
	Waits bool
}

// Preview checks an operation as Call does: role, body, and the rules that hold for a proposal. It changes
// nothing. A refusal is a *fault.Fault.
func (a *API) Preview(ctx context.Context, by operator.Operator, id string, in Input) (Preview, error) {
	r, err := a.request(ctx, by, id, in)
	if err != nil {
		return Preview{}, err
	}
	if err := a.edge.prepare(nobody{}, r); err != nil {
		return Preview{}, a.edge.recorded(r, err)
	}
	if !a.edge.proposable[id] {
		return Preview{}, nil
	}
	s, err := a.edge.stakeOf(ctx, r)
	if err != nil {
		return Preview{}, err
	}
	if err := a.edge.checkers[id](ctx, r, newPlan()); err != nil {
		return Preview{}, err
	}
	return Preview{Was: s.was, Waits: s.needsTwo && a.edge.FourEyes && r.op.FourEyes != ""}, nil
}

// request returns the request for an operation by a caller within the program.
func (a *API) request(ctx context.Context, by operator.Operator, id string, in Input) (*request, error) {
	op := a.edge.operations[id]
	if op == nil {
		return nil, fmt.Errorf("admin: there is no operation %q", id)
	}
	var body []byte
	var err error
	if in.Body != nil {
		if body, err = json.Marshal(in.Body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/?"+in.Query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range in.Path {
		r.SetPathValue(name, value)
	}
	return &request{Request: r, by: by.From(ctx).Sending(in.Form), op: op}, nil
}

// Download is like Call, for an operation whose response is a file. It writes the file to w. After a
// refusal, it has written nothing.
func (a *API) Download(ctx context.Context, w http.ResponseWriter, by operator.Operator, id string, in Input) error {
	r, err := a.request(ctx, by, id, in)
	if err != nil {
		return err
	}
	data, err := a.edge.permitted(w, r)
	if err != nil {
		return err
	}
	f, isFile := data.(file)
	if !isFile {
		return fmt.Errorf("admin: %q answers with no file", id)
	}
	a.edge.send(w, r.Request, f)
	return nil
}

// permitted runs an authenticated request, and records a refusal by role.
func (e *edge) permitted(w http.ResponseWriter, r *request) (any, error) {
	data, err := e.perform(w, r)
	return data, e.recorded(r, err)
}

// recorded records an error that is a refusal by role, and returns it.
func (e *edge) recorded(r *request, err error) error {
	if fault.Is(err, fault.Forbidden) {
		if lost := e.Operators.Forbidden(r.Context(), r.by, r.op.ID); lost != nil {
			e.Log.ErrorContext(r.Context(), "a refusal by role could not be recorded", "error", lost)
		}
	}
	return err
}

// nobody receives what an operation writes to a response, where nobody reads it.
type nobody struct{}

func (nobody) Header() http.Header { return http.Header{} }

func (nobody) Write(b []byte) (int, error) { return len(b), nil }

func (nobody) WriteHeader(int) {}
