// Package admin is the operators' door: what the people who run Kobo do over
// HTTP, from taking a company on to approving a correction of its balance.
//
// Each operator shows their own key. Every change they make is one line of the
// audit log, written by the business that makes the change and in the same
// commit. This package only reads requests, asks the businesses, and shapes
// their answers (completion.md §6).
package admin

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// Config is what stands behind the door.
type Config struct {
	Companies   *company.Service
	Settlements *settlement.Service
	Operators   *operator.Service
	Operations  *operation.Service
	Webhooks    *webhook.Service
	Reports     *report.Service
	Crypto      *crypto.Service
	Payouts     *payout.Service
	Cards       *card.Service
	Quotas      *quota.Service
	Clock       clock.Clock
	Log         *slog.Logger
	// Failed limits the requests of an address without a right key; nil: nothing does.
	Failed *limit.Limit
}

type door struct {
	Config
	mux     *http.ServeMux
	buckets *limit.Buckets
}

// request is one call of an operator.
type request struct {
	*http.Request
	by   operator.Operator
	form *form // the body, for a POST
}

// action does what a route is for. It returns what goes into data, or nil, and
// says no with a *fault.Fault.
type action func(ctx context.Context, r *request) (any, error)

// New is the door, for every path below /admin/v1/.
func New(c Config) http.Handler {
	d := &door{Config: c, mux: http.NewServeMux()}
	if c.Failed != nil {
		d.buckets = limit.New(c.Clock)
	}
	for pattern, do := range d.routes() {
		method, path, _ := strings.Cut(pattern, " ")
		d.mux.HandleFunc(method+" /admin/v1"+path, d.admit(do))
	}
	d.mux.HandleFunc("/", d.unknown)
	return d.mux
}

// routes are all there is behind the door, below /admin/v1.
func (d *door) routes() map[string]action {
	return map[string]action{
		"POST /companies":                                                    d.createCompany,
		"GET /companies":                                                     d.listCompanies,
		"GET /companies/{reference}":                                         d.findCompany,
		"POST /companies/{reference}/kyb":                                    d.moveKYB,
		"POST /companies/{reference}/live":                                   d.setLive,
		"POST /companies/{reference}/pin":                                    d.setPIN,
		"POST /companies/{reference}/pin/unlock":                             d.unlockPIN,
		"POST /companies/{reference}/api-keys":                               d.issueKey,
		"DELETE /companies/{reference}/api-keys/{id}":                        d.revokeKey,
		"POST /companies/{reference}/settlement-accounts":                    d.createAccount,
		"POST /companies/{reference}/settlement-accounts/{id}/status":        d.setStatus,
		"POST /companies/{reference}/settlement-accounts/{id}/alert":         d.setAlert,
		"GET /companies/{reference}/settlement-accounts/{id}/bank-accounts":  d.listBankAccounts,
		"POST /companies/{reference}/settlement-accounts/{id}/bank-accounts": d.attach,
		"POST /companies/{reference}/adjustments":                            d.adjust,
		"POST /companies/{reference}/xpubs":                                  d.setXpub,
		"GET /companies/{reference}/xpubs":                                   d.listXpubs,
		"POST /companies/{reference}/payout-fees":                            d.setFees,
		"GET /companies/{reference}/payout-fees":                             d.findFees,
		"GET /companies/{reference}/payout-fees/history":                     d.feesHistory,
		"POST /companies/{reference}/payout-limits":                          d.setLimit,
		"GET /companies/{reference}/payout-limits":                           d.findLimits,
		"GET /companies/{reference}/payout-limits/history":                   d.limitsHistory,
		"POST /companies/{reference}/quotas":                                 d.setQuota,
		"GET /companies/{reference}/quotas":                                  d.findQuotas,
		"GET /companies/{reference}/quotas/history":                          d.quotasHistory,
		"POST /companies/{reference}/card-address":                           d.setAddress,
		"GET /companies/{reference}/card-address":                            d.findAddress,
		"GET /adjustments":                                                   d.listAdjustments,
		"GET /adjustments/{id}":                                              d.findAdjustment,
		"POST /adjustments/{id}/approve":                                     d.approve,
		"POST /adjustments/{id}/reject":                                      d.reject,
		"GET /cases":                                                         d.listCases,
		"GET /cases/{id}":                                                    d.findCase,
		"POST /cases/{id}/resolve":                                           d.resolveCase,
		"POST /cases/{id}/approve":                                           d.approveCase,
		"GET /webhooks":                                                      d.listWebhooks,
		"GET /door":                                                          d.findDoor,
		"POST /door":                                                         d.setDoor,
		"GET /operators":                                                     d.listOperators,
		"GET /audit":                                                         d.listAudit,
	}
}

// admit asks for the operator's key and reads the body before the action.
func (d *door) admit(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// Answers hold keys and balances; nothing between here and the operator
		// may keep them.
		w.Header().Set("Cache-Control", "no-store")
		data, err := d.act(w, r, do)
		if err != nil {
			d.refuse(w, r, err)
			return
		}
		answer(w, http.StatusOK, success{Status: "success", Data: data})
	}
}

func (d *door) act(w http.ResponseWriter, r *http.Request, do action) (any, error) {
	by, err := d.who(r)
	if err != nil {
		return nil, d.failed(w, r, err)
	}
	if !isText(r.URL) {
		return nil, fault.New(fault.Invalid, "The URL holds what is not text")
	}
	call := &request{Request: r, by: by}
	if r.Method == http.MethodPost {
		if call.form, err = readForm(w, r); err != nil {
			return nil, err
		}
	}
	return do(r.Context(), call)
}

// who is the operator whose key a request shows. Their lines of the audit log say
// from which address it came.
func (d *door) who(r *http.Request) (operator.Operator, error) {
	key := bearer(r)
	if key == "" {
		return operator.Operator{}, fault.New(fault.Unauthenticated, "Admin key is missing")
	}
	by, err := d.Operators.Authenticate(r.Context(), key)
	return by.From(r.Context()), err
}

// failed counts a request without a right key, for its address. It does not keep
// others there from showing a right one.
func (d *door) failed(w http.ResponseWriter, r *http.Request, err error) error {
	if d.Failed == nil || !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	s, allowed := d.buckets.Take(peer.Network(peer.Of(r.Context())), *d.Failed)
	s.Show(w.Header())
	if !allowed {
		return s.Refusal().Because(err)
	}
	return err
}

// isText keeps bytes out that no id, name or state holds and PostgreSQL does not
// take.
func isText(u *url.URL) bool {
	query, err := url.QueryUnescape(u.RawQuery)
	whole := u.Path + query
	return err == nil && utf8.ValidString(whole) && !strings.ContainsFunc(whole, unicode.IsControl)
}

func bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// unknown answers a path that is not there, or a method that its path has not.
func (d *door) unknown(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		probe := *r
		probe.Method = method
		if _, pattern := d.mux.Handler(&probe); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		answer(w, http.StatusNotFound, problem{Status: "error", Message: "Not found"})
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	answer(w, http.StatusMethodNotAllowed, problem{Status: "error", Message: "Method not allowed"})
}

type success struct {
	Status string `json:"status"`
	Data   any    `json:"data,omitempty"`
}

type problem struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

var statuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusBadRequest,
	fault.Refused:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Forbidden:       http.StatusForbidden,
	fault.Missing:         http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	tooLarge:              http.StatusRequestEntityTooLarge,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Unknown:         http.StatusServiceUnavailable,
}

// refuse dresses a fault. What the operator may not read goes to the log.
func (d *door) refuse(w http.ResponseWriter, r *http.Request, err error) {
	why := fault.Of(err)
	body := problem{Status: "error", Message: why.Message, Details: why.Details}
	status, known := statuses[why.Kind]
	if !known {
		status, body.Message = http.StatusInternalServerError, "Internal Server Error"
	}
	if status >= http.StatusInternalServerError {
		d.Log.ErrorContext(r.Context(), "an operator's request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", why.RetryAfter())
	}
	if status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close") // the server would read on before it answers
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	answer(w, status, body)
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic("admin: an answer that is not JSON: " + err.Error()) // only our own structs come here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // nobody is left to tell when the caller has gone
}
