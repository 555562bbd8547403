package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/person"
)

type component = templ.Component

const (
	// maxForm is the largest body of a form in bytes.
	maxForm = 1 << 20
	// maxDropped is how many bytes of a larger form are read and dropped. A browser shows no answer before it has
	// sent the whole form.
	maxDropped = 16 << 20
)

// visit is one request of a person.
type visit struct {
	*http.Request
	*console
	w       http.ResponseWriter
	began   time.Time
	route   route
	by      operator.Operator
	who     person.Person
	session string         // the token of the session; "" for nobody
	opened  person.Session // the session
	proved  bool           // the form has brought a proof of who the person is
	// fileProblem is why the file of a form cannot be read, or nil.
	fileProblem error
	problem     *fault.Fault // why the form was refused, when a page shows it again
	sentTo      string       // the address to which the form was sent that a page shows again, or ""
	shownAs     string       // the address of this page, if the browser shows the one to which the form was sent; otherwise ""
	door        *bool        // whether the companies' API is closed, if the page has just asked; nil if it has not
	saved       []savedView  // the views that the person has saved, on a page that can be saved
	accounts    accountNames // the settlement accounts of the company, on a page that names some
	number      string       // what the company is asked with in place of the number of the form, or ""
}

// errNothing looks alike for what does not exist and for what the person may not see.
var errNothing = fault.New(fault.Missing, "There is nothing at this address")

// identify finds the operator of the request's session. It reads the operator again for each request,
// so that a removed operator is signed out at once.
func (v *visit) identify() (bool, error) {
	company, token := v.token()
	if token == "" {
		return false, nil
	}
	opened, who, err := v.People.Open(v.Context(), company, token)
	if err != nil || opened.ID == "" {
		return false, err
	}
	if company == "" {
		peer.SetOperator(v.Context(), who.Name)
	}
	if !v.isByPage() {
		if err := v.People.Use(v.Context(), opened); err != nil {
			return false, err
		}
	}
	v.by, v.who, v.session, v.opened = who.Author(), who, token, opened
	return true, nil
}

// isByPage reports whether a page asks by itself, and not the person: for its stream, or for itself after a change.
func (v *visit) isByPage() bool {
	return v.Header.Get("HX-Request") != "" || v.Header.Get("Accept") == "text/event-stream"
}

// askToSignIn leads to the sign-in page. A fragment is answered with 401, and the script then loads the
// whole page. A form without a session did nothing: the sign-in page says so, and leads back to the page of the form. The
// typed text is shown again to the same person.
func (v *visit) askToSignIn() {
	to, asked := v.at("/sign-in"), url.Values{}
	switch {
	case v.Method == http.MethodGet && v.isOwnPath(v.URL.Path):
		asked.Set("to", v.URL.RequestURI())
	case v.Method == http.MethodPost && v.URL.Path != v.at("/sign-out"):
		asked.Set("ended", "yes")
		if page := v.formPage(); page != "" {
			asked.Set("to", page)
		}
		if name := v.keepTyped(); name != "" {
			asked.Set("typed", name)
		}
	}
	if company, _ := v.token(); company != "" {
		asked.Set("company", company)
	}
	if len(asked) > 0 {
		to += "?" + asked.Encode()
	}
	if v.Header.Get("HX-Request") != "" {
		v.w.Header().Set("HX-Redirect", to)
		v.w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
}

// formPage returns the address of the page from which a form was sent, or "". The page of a refused form has the address of
// the form itself, which nobody can open. The page above it has the form then.
func (v *visit) formPage() string {
	from, err := url.Parse(v.back())
	if err != nil {
		return ""
	}
	if v.opens(from.Path) {
		return from.RequestURI()
	}
	for page := from.Path; page != "" && v.isOwnPath(page); page = page[:strings.LastIndex(page, "/")] {
		if v.opens(page) {
			return page
		}
	}
	return ""
}

// opens reports whether an address is that of a page.
func (v *visit) opens(page string) bool {
	_, pattern := v.mux.Handler(&http.Request{Method: http.MethodGet, Host: v.Host, URL: &url.URL{Path: page}})
	return strings.HasPrefix(pattern, http.MethodGet+" ") && page != v.at("/")
}

// checkQuery refuses an address that the page does not know.
func (v *visit) checkQuery() error {
	for name := range v.URL.Query() {
		if !slices.Contains(v.route.query, name) {
			if len(v.route.query) == 0 {
				return fault.Newf(fault.Invalid, "This page has no filters, and the address has one with the name %q.", name)
			}
			why := fault.Newf(fault.Invalid, "This page knows no filter with the name %q. It knows these:", name)
			why.Details = v.route.query
			return why
		}
	}
	return v.checkPeriod()
}

func (v *visit) get() {
	if err := v.checkQuery(); err != nil {
		v.fail(err)
		return
	}
	if v.route.download != nil {
		if err := v.sendFile(); err != nil {
			v.fail(err)
		}
		return
	}
	page, err := v.build()
	if err == nil && page.thing != "" && !v.isByPage() {
		v.noteOpened(page.thing)
	}
	switch {
	case v.isKeptOut(err) && (v.URL.Path == "/app/home" || v.URL.Path == "/app/settings"):
		http.Redirect(v.w, v.Request, verificationAt, http.StatusSeeOther)
	case err != nil:
		v.fail(err)
	default:
		v.render(http.StatusOK, page)
	}
}

// build returns the page of the address.
func (v *visit) build() (page view, err error) {
	if v.route.isSavable() {
		if v.saved, err = v.views(); err != nil {
			return view{}, err
		}
	}
	return v.route.show(v)
}

// post does what a form asks for. Each form has a number. A second request with the same number gets the
// first answer, and does nothing.
func (v *visit) post() {
	if v.route.do == nil {
		v.fail(errNothing)
		return
	}
	if err := v.readForm(); err != nil {
		v.fail(err)
		return
	}
	// A proof works once. So it is taken within the form: a second click finds the first answer, and asks for no other proof.
	sender := v.session
	if v.route.open {
		sender = v.whole()
	}
	to, err := v.forms.once(sender, v.PostForm.Get("form"), v.w.Header(), func() (string, error) {
		if err := v.stepUp(); err != nil {
			return "", &unproved{err}
		}
		return v.do()
	})
	if err == nil {
		http.Redirect(v.w, v.Request, to, http.StatusSeeOther)
		return
	}
	var refused *unproved
	switch {
	case errors.As(err, &refused):
		v.askForProof(refused.why)
		return
	case errors.Is(err, errProof):
		v.askForProof(nil)
		return
	}
	why := fault.Of(err)
	status, known := statuses[why.Kind]
	if v.route.show == nil && v.route.on == nil || !known || status >= http.StatusInternalServerError && !errors.Is(err, errClosed) {
		v.fail(err)
		return
	}
	if v.route.show == nil {
		v.showOn(shownForm{fields: v.PostForm, sentTo: v.URL.Path, why: why, status: status})
		return
	}
	v.problem, v.sentTo = why, v.URL.Path
	page, again := v.route.show(v)
	if again != nil {
		v.fail(err)
		return
	}
	page.title = "Error: " + page.title
	v.render(status, page)
}

// whole is a digest of all that a form sends. A sign-in changes the session, so its form belongs to none. The answer to it has a session,
// and only a request that sends the same proof again gets it: with another proof, the number belongs to another sign-in.
func (v *visit) whole() string {
	sum := sha256.Sum256([]byte(v.URL.Path + "\n" + v.PostForm.Encode()))
	return hex.EncodeToString(sum[:])
}

// readForm reads the fields of a form. A form of somebody who has not signed in may have the size of an API request.
func (v *visit) readForm() error {
	most, whole := int64(maxForm), v.Body
	if v.session == "" {
		most = contract.MaxBody
	}
	v.Body = http.MaxBytesReader(v.w, whole, most)
	err := v.parseForm()
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		err = nil
		if v.session != "" {
			_, err = io.Copy(io.Discard, io.LimitReader(whole, maxDropped))
		}
		v.w.Header().Set("Connection", "close")
		return fault.Newf(contract.TooLarge, "The form is larger than %d KiB. Send it in parts: a bulk payout has at most 1,000 lines.", most>>10).Because(errors.Join(over, err))
	case err != nil:
		return fault.New(fault.Invalid, "The form could not be read.").Because(err)
	}
	return nil
}

// call asks an operation of the operators' API, as the person.
func (v *visit) call(id string, in admin.Input, out any) (waits bool, err error) {
	asked := noProof
	switch {
	case v.API.NeedsNewProof(id):
		asked = newProof
	case v.API.NeedsProof(id):
		asked = recentProof
	}
	if !v.hasProof(asked) {
		return false, errProof
	}
	in.Form = v.PostForm.Get("form")
	return v.API.Call(v.Context(), v.by, id, in, out)
}

// may reports whether the person has the role, or a higher one.
func (v *visit) may(least operator.Role) bool { return v.by.Role.Covers(least) }

// typed returns what the person has typed into a field of a refused form, or else the usual value.
func (v *visit) typed(name, usual string) string {
	if v.problem != nil {
		return v.PostForm.Get(name)
	}
	return usual
}

// filter returns the value of a filter in the address, or else the usual value.
func (v *visit) filter(name, usual string) string { return cmp.Or(v.URL.Query().Get(name), usual) }

// with returns the page's address with another value of one filter. "" removes the filter. The cursor
// never stays, since it belongs to the other filters.
func (v *visit) with(name, value string) string {
	q := v.URL.Query()
	for key, values := range q {
		if strings.Join(values, "") == "" {
			q.Del(key) // an empty field of the form
		}
	}
	q.Del("after")
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return v.URL.Path
	}
	return v.URL.Path + "?" + q.Encode()
}

// statuses are the HTTP statuses of the kinds of faults.
var statuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.Refused:         http.StatusUnprocessableEntity,
	fault.Unauthenticated: http.StatusUnprocessableEntity,
	fault.Forbidden:       http.StatusForbidden,
	fault.Missing:         http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.Limited:         http.StatusTooManyRequests,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Unknown:         http.StatusServiceUnavailable,
	contract.TooLarge:     http.StatusRequestEntityTooLarge,
}

// fail shows a page that says what went wrong. The cause goes into the log only.
func (v *visit) fail(err error) {
	why := fault.Of(err)
	status, known := statuses[why.Kind]
	if !known {
		status = http.StatusInternalServerError
	}
	if v.Method == http.MethodGet && (why.Kind == fault.Invalid || why.Kind == fault.Refused) {
		status = http.StatusBadRequest
	}
	if status >= http.StatusInternalServerError {
		v.log(v.Context(), "a page could not be shown: "+v.Pattern, err)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", why.RetryAfter())
	}
	t := trouble{status: status, why: why, wrote: v.Method == http.MethodPost, forgotten: errors.Is(err, errNothing), keptOut: v.isKeptOut(err), closed: errors.Is(err, errClosed), foreign: errors.Is(err, errForeign)}
	v.render(status, view{title: t.title(), body: troublePage(v, t)})
}

// render writes a page with its frame. A request of the script for one part gets the page without it.
func (v *visit) render(status int, page view) {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	whole := frame(v, page)
	if v.who.Name == "" {
		whole = bare(v, page)
	}
	if v.problem != nil {
		whole = v.marked(whole)
	}
	// An error means that the browser has gone.
	v.log(v.Context(), "a page was not written whole", whole.Render(withBase(v.Context(), v.base), v.w))
}
