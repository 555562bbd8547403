// Package admin is the API for operators, who are the staff that run Kobo. They add companies,
// approve corrections of balances and decide cases over HTTP.
//
// The contract is openapi.yaml. Routes, the rules for bodies, and the types of requests and
// responses are generated from it. Each operator has a key. Every change writes one line to the
// audit log. The business service that makes the change writes that line in the same commit. This
// package reads requests, calls the business services, and shapes the responses.
package admin

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	asked "github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Config is what the admin API needs.
type Config struct {
	Book        *ledger.Book
	Companies   *company.Service
	Settlements *settlement.Service
	Operators   *operator.Service
	People      *person.Service
	Operations  *operation.Service
	Webhooks    *webhook.Service
	Inbox       *inbox.Service
	Reports     *report.Service
	Requests    *asked.Service // knows the last uses of API keys; nil knows none
	Crypto      *crypto.Service
	Payouts     *payout.Service
	Cards       *card.Service
	Customers   *customer.Service
	Quotas      *quota.Service
	Shop        *vtu.Shop
	Erasures    *erasure.Service
	Clock       clock.Clock
	Log         *slog.Logger
	// HideSecrets is true where operators must not see an API key or a PIN of a company. They get
	// tokens for the company instead.
	HideSecrets bool
	// Failed limits the requests without a valid key from one address. If nil, there is no
	// limit.
	Failed *limit.Limit
	// PerSecond is the request limit of a company without its own limit. 0 means no limit.
	PerSecond int64
	// FourEyes makes acts that can lead to money leaving need a second operator.
	FourEyes bool
	// Program is what this program has seen of the providers.
	Program Program
	// InForce is what this program runs with.
	InForce InForce
	// Worker runs the background jobs of this program.
	Worker *job.Worker
}

type edge struct {
	Config
	mux     *http.ServeMux
	buckets *limit.Buckets

	// These maps have the operations, and what belongs to them, by the id of the operation.
	operations map[string]*contract.Operation
	actions    map[string]action
	weighers   map[string]weigher
	checkers   map[string]checker
	proposable map[string]bool // the operations that can be acts of a proposal
	reads      map[string]bool // the operations that change nothing
}

// request is one request of an operator.
type request struct {
	*http.Request
	by operator.Operator
	op *contract.Operation
	// subject is what an action that reads personal data has read, if the path does not say it.
	subject string
	body    any // decoded, and checked against the rules of the operation
	// access is the state of API access on which an opening rests, if it was weighed.
	access *operator.Access
}

// action runs an operation. It returns the value for the response field data, or nil. If it refuses
// the request, it returns a *fault.Fault.
type action func(ctx context.Context, r *request) (any, error)

// New returns the operations of the contract. They are served over HTTP, and within the program (Call).
func New(c Config) (*API, error) {
	spec, err := readContract()
	if err != nil {
		return nil, err
	}
	e := &edge{Config: c, mux: http.NewServeMux(), operations: map[string]*contract.Operation{}, proposable: map[string]bool{}, reads: map[string]bool{}}
	if c.Failed != nil {
		e.buckets = limit.New(c.Clock)
	}
	e.actions, e.weighers, e.checkers = e.handlers(), e.stakes(), e.checks()
	for route, op := range spec.Operations {
		if canBeProposed(route, op) && e.checkers[op.ID] == nil {
			return nil, fmt.Errorf("admin: %s can be proposed and has no check", op.ID)
		}
		e.operations[op.ID], e.proposable[op.ID] = op, canBeProposed(route, op)
		e.reads[op.ID] = strings.HasPrefix(route, http.MethodGet)
		e.mux.HandleFunc(route, e.admit(op))
	}
	e.mux.HandleFunc("/", e.unknown)
	return &API{e}, nil
}

// admit checks the operator's key and role, and the request, before the action runs.
func (e *edge) admit(op *contract.Operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// Responses may contain keys and balances, so no cache may store them.
		w.Header().Set("Cache-Control", "no-store")
		asked := &request{Request: r, op: op}
		data, err := e.act(w, asked)
		if err != nil {
			e.refuse(w, r, err)
			return
		}
		if f, isFile := data.(file); isFile {
			e.send(w, r, f)
			return
		}
		status := http.StatusOK
		if _, waits := data.(accepted); waits {
			status = http.StatusAccepted
		}
		contract.Write(w, status, success{Status: "success", Data: data})
	}
}

func (e *edge) act(w http.ResponseWriter, r *request) (any, error) {
	var err error
	if r.by, err = e.authenticate(r.Request); err != nil {
		return nil, e.failed(w, r.Request, err)
	}
	return e.permitted(w, r)
}

// perform checks the role of an authenticated operator and the request, and runs the action.
func (e *edge) perform(w http.ResponseWriter, r *request) (any, error) {
	if err := e.prepare(w, r); err != nil {
		return nil, err
	}
	data, err := e.run(r.Context(), r)
	f, isFile := data.(file)
	if err != nil || !isFile && !r.op.Personal {
		return data, err
	}
	// The read is recorded before the response is sent. Without a record, nothing is shown.
	action, subject := "read."+r.op.ID, cmp.Or(r.subject, r.PathValue("reference"), r.PathValue("id"), r.filter("company"))
	if isFile {
		return data, e.Operators.Exported(r.Context(), r.by, operator.Export{Action: action, Subject: subject, File: f.name, Query: r.URL.RawQuery, IsPersonal: r.op.Personal})
	}
	return data, e.Operators.Read(r.Context(), r.by, action, subject)
}

// prepare checks the role, the body and the filters of a request.
func (e *edge) prepare(w http.ResponseWriter, r *request) (err error) {
	if err := r.by.May(operator.Role(r.op.Role)); err != nil {
		return err
	}
	if !isText(r.URL) {
		return fault.New(fault.Invalid, "The URL holds what is not text")
	}
	if r.op.HasBody() {
		if r.body, err = readBody(w, r); err != nil {
			return err
		}
	}
	return checkFilters(r)
}

// tries is how often a request is weighed again, because other acts of the company came first.
const tries = 10

// run runs the action of a request, or returns a proposal if the request needs a second operator.
func (e *edge) run(ctx context.Context, r *request) (any, error) {
	for range tries {
		if waits, err := e.proposed(ctx, r); err != nil || waits != nil {
			return waits, err
		}
		if data, err := e.actions[r.op.ID](ctx, r); !operator.IsOvertaken(err) {
			return data, err
		}
	}
	return nil, errOvertaken
}

var errOvertaken = fault.New(fault.Conflict, "Too many other acts concern this company: try again")

// authenticate returns the operator to whom the key of the request belongs. Lines in the audit log
// about this operator then contain the address of the request.
func (e *edge) authenticate(r *http.Request) (operator.Operator, error) {
	key := contract.Bearer(r)
	if key == "" {
		return operator.Operator{}, fault.New(fault.Unauthenticated, "Admin key is missing")
	}
	by, err := e.Operators.Authenticate(r.Context(), key)
	if fault.Is(err, fault.Unauthenticated) {
		if lost := e.Operators.FailedLogin(r.Context(), "operator.login.failed", ""); lost != nil {
			e.Log.ErrorContext(r.Context(), "a failed admin login could not be recorded", "error", lost)
		}
	}
	peer.SetOperator(r.Context(), by.Name)
	return by.From(r.Context()), err
}

// failed counts a request without a valid key towards the limit of the caller's address. Over the
// limit, it returns a 429. Requests with a valid key from the same address are still accepted.
func (e *edge) failed(w http.ResponseWriter, r *http.Request, err error) error {
	if e.Failed == nil || !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	s, allowed := e.buckets.Take(peer.Network(peer.Of(r.Context())), *e.Failed)
	s.Show(w.Header())
	if !allowed {
		return s.Refusal().Because(err)
	}
	return err
}

// isText reports whether a URL is valid UTF-8 without control characters. PostgreSQL does not
// accept other texts.
func isText(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	whole := u.Path + query
	return err == nil && utf8.ValidString(whole) && !strings.ContainsFunc(whole, unicode.IsControl)
}

// unknown refuses an unknown path, or a method that the path does not have.
func (e *edge) unknown(w http.ResponseWriter, r *http.Request) {
	allowed := contract.Allowed(e.mux, r)
	if allowed == nil {
		contract.Write(w, http.StatusNotFound, Problem{Status: "error", Message: "Not found"})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	contract.Write(w, http.StatusMethodNotAllowed, Problem{Status: "error", Message: "Method not allowed"})
}

type success struct {
	Status string `json:"status"`
	Data   any    `json:"data,omitempty"`
}

var statuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusBadRequest,
	fault.Refused:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.Missing:         http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	contract.TooLarge:     http.StatusRequestEntityTooLarge,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Unknown:         http.StatusServiceUnavailable,
}

// refuse responds with a fault. Details that callers must not read go only into the log.
func (e *edge) refuse(w http.ResponseWriter, r *http.Request, err error) {
	why := fault.Of(err)
	body := Problem{Status: "error", Message: why.Message, Details: why.Details, Answers: Answers(why)}
	status, known := statuses[why.Kind]
	if !known {
		status, body.Message = http.StatusInternalServerError, "Internal Server Error"
	}
	if status >= http.StatusInternalServerError {
		e.Log.ErrorContext(r.Context(), "an operator's request failed", "method", r.Method, "path", r.URL.Path,
			"operator", peer.OperatorOf(r.Context()), "address", peer.Of(r.Context()), "error", err)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", why.RetryAfter())
	}
	if status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close") // otherwise the server would read the body before it responds
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	contract.Write(w, status, body)
}
