package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
)

// appItems are the items of the menu of companies' people.
var appItems = []item{
	{"home", "Home", "/app/home", "h"},
	{"payouts", "Payouts", "/app/payouts", "p"},
	{"money", "Money in", "/app/money", "m"},
	{"customers", "Customers", "/app/customers", "c"},
	{"services", "Services", "/app/services", "v"},
	{"developers", "Developers", "/app/developers", "d"},
	{"settings", "Settings", "/app/settings", "s"},
}

// NewApp returns the handler of all addresses below /app: the pages of companies' people. A page asks the
// companies' API within the program, as the person who has signed in. So a page can do what a program of the
// company can do, as far as the person's role permits, and sees nothing of another company.
func NewApp(c Config) http.Handler {
	k := newConsole(c, companies)
	return k.handler(k.allOfApp())
}

// allOfApp returns the routes of the pages of companies' people.
func (c *console) allOfApp() map[string]route {
	out := map[string]route{}
	for _, some := range []map[string]route{
		c.homeRoutes(), c.payoutRoutes(), c.beneficiaryRoutes(), c.customerRoutes(), c.collectionRoutes(), c.cardRoutes(), c.purchaseRoutes(),
		c.cryptoRoutes(), c.transferRoutes(), c.evidenceRoutes(), c.ownSearchRoutes(), c.pinRoutes(), c.listRoutes(), c.creditRoutes(), c.keyRoutes(), c.settingRoutes(),
	} {
		maps.Copy(out, some)
	}
	return out
}

// reply is a response of the companies' API.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header.
func (r *reply) Header() http.Header { return r.header }

// Write adds to the body.
func (r *reply) Write(b []byte) (int, error) { return r.body.Write(b) }

// WriteHeader stores the status.
func (r *reply) WriteHeader(status int) { r.status = status }

// ask sends a request to the companies' API, as the person, and decodes the response into out. The number of the
// form is the Idempotency-Key, so a form that is sent twice moves money once, also after a crash. A refusal is
// a *fault.Fault with the message of the API.
func (v *visit) ask(method, path string, body, out any) (status int, err error) {
	if method != http.MethodGet && v.isClosed() {
		return 0, errClosed
	}
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	r, err := v.toCompany(method, path, text)
	if err != nil {
		return 0, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if form := cmp.Or(v.number, v.PostForm.Get("form")); form != "" && method == http.MethodPost && !showsSecret(path) {
		r.Header.Set("Idempotency-Key", keyOf(form))
	}
	to := &reply{header: http.Header{}, status: http.StatusOK}
	v.Company.ServeHTTP(to, r)
	if to.status >= http.StatusBadRequest {
		return to.status, refusalOf(to)
	}
	if out == nil {
		return to.status, nil
	}
	return to.status, json.Unmarshal(to.body.Bytes(), out)
}

// errClosed refuses a form of a company's person before the API is asked, so it is certain that nothing was sent.
var errClosed = fault.New(fault.Unavailable, "Kobo is closed for maintenance, so this was not sent. All pages can be read meanwhile. Payments that have begun go on: Kobo asks the banks as before. Send it again when the strip above is gone.")

// isClosed reports whether the companies' API is closed for maintenance.
func (v *visit) isClosed() bool {
	if v.door != nil {
		return *v.door
	}
	return v.Closed != nil && v.Closed()
}

// keyOf returns the Idempotency-Key of a form.
func keyOf(form string) string { return "page-" + form }

// toCompany returns a request of the person to the companies' API.
func (v *visit) toCompany(method, path string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(api.Seat(v.Context(), v.who), method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = v.RemoteAddr
	for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
		if values := v.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	return r, nil
}

// file is the response of the companies' API to a request for a file. It passes the file on to the browser as it
// comes, and keeps a refusal.
type file struct {
	reply
	to     http.ResponseWriter
	note   func() error // records who takes the file
	failed error        // of note: nothing is sent then
}

// WriteHeader begins the file, unless the API refuses it.
func (f *file) WriteHeader(status int) {
	if f.status = status; status >= http.StatusBadRequest {
		return
	}
	if f.failed = f.note(); f.failed != nil {
		return
	}
	for _, name := range []string{"Content-Type", "Content-Disposition", "Cache-Control"} {
		f.to.Header()[name] = f.header[name]
	}
	f.to.WriteHeader(status)
}

// Write passes a part of the file on.
func (f *file) Write(b []byte) (int, error) {
	if f.status == 0 {
		f.WriteHeader(http.StatusOK)
	}
	switch {
	case f.failed != nil:
		return 0, f.failed
	case f.status >= http.StatusBadRequest:
		return f.body.Write(b)
	}
	return f.to.Write(b)
}

// Unwrap gives http.ResponseController access to the connection, so that a long file moves the write deadline.
func (f *file) Unwrap() http.ResponseWriter { return f.to }

// deliver passes a file of the companies' API on, once note has recorded who takes it. A refusal is an error, as in ask.
func (v *visit) deliver(path string, note func() error) error {
	r, err := v.toCompany(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	f := &file{reply: reply{header: http.Header{}}, to: v.w, note: note}
	v.Company.ServeHTTP(f, r)
	if f.status >= http.StatusBadRequest {
		return refusalOf(&f.reply)
	}
	return nil
}

// showsSecret reports whether the answer of a POST has a new secret. Such a request has no Idempotency-Key: who knows the
// key can read the answer again for ten minutes, and the request log has the key.
func showsSecret(path string) bool {
	return path == "/api/v1/company/api-keys" || path == "/api/v1/webhooks" || strings.HasSuffix(path, "/rotate-secret")
}

// kinds are the kinds of faults by the statuses of the companies' API.
var kinds = map[int]fault.Kind{
	http.StatusBadRequest: fault.Refused, http.StatusUnauthorized: fault.Forbidden, http.StatusForbidden: fault.Forbidden,
	http.StatusNotFound: fault.Missing, http.StatusConflict: fault.Conflict, http.StatusUnprocessableEntity: fault.Invalid,
	http.StatusTooManyRequests: fault.Limited, http.StatusServiceUnavailable: fault.Unavailable,
}

// These are the further fields of a refusal.
const (
	referenceOf = "reference" // of the payment that was declined or is not known yet
	kybOf       = "kybStatus"
)

// refusalOf returns the fault that a response shows.
func refusalOf(to *reply) error {
	var said struct {
		Message string   `json:"message"`
		Error   string   `json:"error"`
		Details []string `json:"details"`
		KYB     string   `json:"kybStatus"`
		Data    struct {
			Reference string `json:"reference"`
			Purchase  string `json:"transactionId"`
		} `json:"data"`
	}
	kind, known := kinds[to.status]
	if err := json.Unmarshal(to.body.Bytes(), &said); err != nil || !known {
		return fmt.Errorf("console: the companies' API answered %d", to.status)
	}
	message := said.Message
	if message == "" {
		message = strings.TrimPrefix(said.Error, " failed: ")
	}
	if to.header.Get("Kobo-Reason") == string(fault.NotFound) {
		kind = fault.Missing // several families of the contract answer 400
	}
	why := fault.New(kind, message).With(fault.Reason(to.header.Get("Kobo-Reason")))
	why.Details = said.Details
	why.Extra = map[string]any{referenceOf: cmp.Or(said.Data.Reference, said.Data.Purchase), kybOf: said.KYB}
	return why
}

// listOf is a page of a list of the companies' API.
type listOf[R any] struct {
	Data struct {
		Data []R           `json:"data"`
		Meta contract.Meta `json:"meta"`
	} `json:"data"`
}

// one is a response with one thing.
type one[R any] struct {
	Data R `json:"data"`
}

// pageOfOwn is a page of a list of the companies' API, by cursor.
type pageOfOwn[R any] struct {
	rows []R
	next *string // the cursor of the next page, or nil
}

// ownRows reads a page of a list of the companies' API with the filters of the page: the rows after the cursor of its address.
func ownRows[R any](v *visit, path string, more ...string) (pageOfOwn[R], error) {
	q := v.askedQuery(more...)
	q.Del("after")
	return rowsAfter[R](v, path+"?"+q.Encode(), v.filter("after", ""))
}

// rowsAfter reads the rows of a list of the companies' API after a cursor.
func rowsAfter[R any](v *visit, path, after string) (out pageOfOwn[R], err error) {
	turn := &api.Turn{After: after}
	sub := *v
	sub.Request = v.WithContext(api.WithTurn(v.Context(), turn))
	var l listOf[R]
	if _, err = sub.ask(http.MethodGet, path, nil, &l); err == nil && turn.Next != "" {
		out.next = &turn.Next
	}
	out.rows = l.Data.Data
	return out, err
}

// ownRowsByCursor is ownRows for a list that goes on by cursor for programs too. The API calls the place cursor.
func ownRowsByCursor[R any](v *visit, path string, more ...string) (pageOfOwn[R], error) {
	q := v.askedQuery(more...)
	if after := q.Get("after"); after != "" {
		q.Set("cursor", after)
	}
	q.Del("after")
	var l one[struct {
		Data []R     `json:"data"`
		Next *string `json:"next"`
	}]
	_, err := v.ask(http.MethodGet, path+"?"+q.Encode(), nil, &l)
	if err != nil && slices.ContainsFunc(fault.Of(err).Details, func(of string) bool { return strings.HasPrefix(of, `"cursor" `) }) {
		err = errCursor.Because(err)
	}
	return pageOfOwn[R]{l.Data.Data, l.Data.Next}, err
}

// errCursor refuses a place in a list as the list itself does.
var errCursor = fault.New(fault.Invalid, `"after" is not a cursor of this list`)

// asked returns the query of the page for the companies' API, with further pairs of name and value.
func (v *visit) asked(more ...string) string {
	if q := v.askedQuery(more...); len(q) > 0 {
		return "?" + q.Encode()
	}
	return ""
}

func (v *visit) askedQuery(more ...string) url.Values {
	q := url.Values{}
	for _, name := range v.route.query {
		if value := v.URL.Query().Get(name); value != "" {
			q.Set(name, value)
		}
	}
	if v.hasSpan() {
		q = v.spanned(q)
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

// can reports whether the person's role permits an operation of the companies' API.
func (v *visit) can(operation string) bool { return api.MayRun(v.who.Role, operation) }

// mayExport returns a refusal unless the person may have files with personal data.
func (v *visit) mayExport() error { return api.MayExport(v.who) }

// readsMasked reports whether the person reads phone numbers, e-mail addresses and account numbers of beneficiaries masked.
func (v *visit) readsMasked() bool { return api.ReadsMasked(v.who.Role) }

// exporting returns the function that sends a file with personal data, to people whose role permits it.
func exporting(download func(v *visit) error) func(v *visit) error {
	return func(v *visit) error {
		if err := v.mayExport(); err != nil {
			return err
		}
		return download(v)
	}
}

// isOwner reports whether the person may change the company's people.
func (v *visit) isOwner() bool { return v.who.Role == person.Owner }

// field returns a field of the form without the spaces around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.PostForm.Get(name)) }
