package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/person"
)

// A form that comes after the session has ended is not sent. The program keeps its fields in memory for the person whose session
// it was, and shows them again after this person has signed in. A restart forgets them.

const (
	// typedLife is how long the fields of a form are kept.
	typedLife = 30 * time.Minute
	// maxTyped is how many forms a program keeps at most. Each has at most contract.MaxBody bytes.
	maxTyped = 1_000
)

// neverKept are the fields that no page shows again: secrets, what belongs to one page only, and what somebody searches by.
var neverKept = []string{"form", "sure", "was", "pin", "currentPin", "pinToken", "again", "otp", "code", "bvn", "password", "state", "response", "username", "q"}

// unsent is a form that came after the session had ended.
type unsent struct {
	company, personID string
	path              string // the address to which it was sent
	fields            url.Values
	since             time.Time
}

// isOf reports whether a person may see the form now.
func (u unsent) isOf(p person.Person, now time.Time) bool {
	return p.ID != "" && u.personID == p.ID && u.company == p.Company && now.Sub(u.since) < typedLife
}

// unsents keeps forms that were not sent.
type unsents struct {
	mu    sync.Mutex
	kept  map[string]unsent
	order []string // oldest first
}

// keep keeps a form, and returns its name. It forgets the forms that are too old, and the oldest one if there are too many.
func (u *unsents) keep(one unsent) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.order) > 0 && (len(u.order) >= maxTyped || one.since.Sub(u.kept[u.order[0]].since) >= typedLife) {
		delete(u.kept, u.order[0])
		u.order = u.order[1:]
	}
	name := id.New()
	u.kept[name] = one
	u.order = append(u.order, name)
	return name
}

// find returns a form of a person.
func (u *unsents) find(name string, p person.Person, now time.Time) (unsent, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	one, there := u.kept[name]
	if !there || !one.isOf(p, now) {
		return unsent{}, false
	}
	return one, true
}

// keepTyped keeps the form of a session that has ended, and returns its name. It returns "" if nobody knows whose session it was, or if
// the form has nothing to show again.
func (v *visit) keepTyped() string {
	company, token := v.token()
	if token == "" || v.route.show == nil && v.route.on == nil {
		return ""
	}
	p, err := v.People.Ended(v.Context(), company, token)
	v.log(v.Context(), "nobody knows whose session has ended", err)
	if err != nil || p.ID == "" || v.readForm() != nil {
		return ""
	}
	fields := kept(v.PostForm)
	if len(fields) == 0 || len(fields.Encode()) > contract.MaxBody {
		return ""
	}
	return v.unsents.keep(unsent{p.Company, p.ID, v.URL.Path, fields, v.People.Machine.Now()})
}

// kept returns the fields of a form that may be shown again.
func kept(form url.Values) url.Values {
	out := url.Values{}
	for name, values := range form {
		if strings.HasPrefix(name, proofPrefix) || slices.Contains(neverKept, name) {
			continue
		}
		for _, value := range values {
			if value != "" && !isSecretNumber(value) {
				out.Add(name, value)
			}
		}
	}
	return out
}

// isSecretNumber reports whether a text may be a BVN, which has 11 digits and begins with 22, or the number of a card.
func isSecretNumber(text string) bool {
	digits := strings.NewReplacer(" ", "", "-", "").Replace(text)
	if strings.Trim(digits, "0123456789") != "" {
		return false
	}
	return len(digits) == 11 && strings.HasPrefix(digits, "22") || len(digits) >= 13 && len(digits) <= 19
}

func (c *console) typedRoutes() map[string]route {
	return map[string]route{"GET " + c.at("/typed/{n}"): {download: showTyped}}
}

// errTyped says above a form that it is one that was not sent.
var errTyped = fault.New(fault.Unauthenticated, "You typed this before you signed in again. It was not sent.")

// shownForm is a form that a page shows again, with what was typed into it.
type shownForm struct {
	fields url.Values
	sentTo string       // the address to which the form was sent
	why    *fault.Fault // why nothing was done
	status int          // of the page
	page   string       // the address of the page, if it is not the one to which the form was sent
}

type formKey struct{}

// showTyped shows the form again that a person has typed: the page of the address to which it was sent, as after a refusal. It
// sends nothing.
func showTyped(v *visit) error {
	one, there := v.unsents.find(v.PathValue("n"), v.who, v.People.Machine.Now())
	if !there {
		return fault.New(fault.Missing, "What you typed before the sign-in is not here any more. It was not sent.")
	}
	v.answerAs(http.MethodPost, &url.URL{Path: one.path}, shownForm{fields: one.fields, sentTo: one.path, why: errTyped, status: http.StatusOK})
	return nil
}

// answerAs answers the request with the page of another address, which shows a form again.
func (v *visit) answerAs(method string, at *url.URL, form shownForm) {
	r := v.Request.Clone(context.WithValue(v.Context(), formKey{}, form))
	r.Method, r.URL, r.Body = method, at, http.NoBody
	v.mux.ServeHTTP(v.w, r)
}

// showOn shows a form again on the page on which it stands.
func (v *visit) showOn(form shownForm) {
	at, err := url.Parse(v.route.on(v))
	if err != nil || !v.isOwnPath(at.Path) || !v.opens(at.Path) {
		v.fail(form.why)
		return
	}
	form.page = at.RequestURI()
	v.answerAs(http.MethodGet, at, form)
}

// showAgain shows the page of a form, with the fields of the form.
func (v *visit) showAgain(form shownForm) {
	v.Method, v.PostForm, v.Form = http.MethodGet, form.fields, form.fields
	switch {
	case v.route.on != nil && v.route.show == nil:
		v.showOn(form)
		return
	case v.route.show == nil:
		v.fail(form.why)
		return
	}
	if err := v.checkQuery(); err != nil {
		v.fail(err)
		return
	}
	v.problem, v.sentTo, v.shownAs = form.why, form.sentTo, form.page
	page, err := v.build()
	if err != nil {
		v.fail(err)
		return
	}
	if form.status >= http.StatusBadRequest {
		page.title = "Error: " + page.title
	}
	v.render(form.status, page)
}

// isRefused reports whether the page shows a form again that was sent to an address.
func (v *visit) isRefused(sentTo string) bool { return v.problem != nil && v.sentTo == sentTo }
