// Package console serves the web pages at which people run Kobo. Operators find payments there, follow
// unknown outcomes, and settle cases by two people.
//
// A page asks the operators' API within the program (admin.API.Call). So the same code checks roles,
// four eyes and bodies, and writes the audit log, for a page and for a program with a key. This package
// holds sessions, turns answers into HTML, and turns forms into requests. It never reads the database
// itself.
//
// Each page has a file page_NAME.templ, and routes in page_NAME.go. Pages work without JavaScript.
package console

//go:generate go tool -modfile=../../tools/go.mod templ generate -path .

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Config is what the console needs.
type Config struct {
	API       *admin.API
	Operators *operator.Service
	// Operations and Settlements count what needs a person.
	Operations  *operation.Service
	Settlements *settlement.Service
	Payouts     *payout.Service     // finds payments that may be the double of a new one
	Chains      *crypto.Service     // names networks
	Providers   map[string][]string // what each configured provider does, by its name
	Events      *event.Service
	People      *person.Service
	Clock       clock.Clock // the time that pages show; sandbox mode moves it
	Log         *slog.Logger
	// Environment is live, staging or dev.
	Environment string
	FourEyes    bool
	// Closed reports whether the companies' API is closed. nil means that it is always open.
	Closed func() bool
	// Restored reports whether the database was restored from a backup, and operators have not finished with
	// what is missing. nil means never.
	Restored func() bool
	// Leaving reports whether the program is stopping, so that streams end.
	Leaving func() bool
	// Origin is the setting console_origin, or "".
	Origin string
	// PublicURL is the setting public_url, or "".
	PublicURL string
	// Failed limits the failed sign-ins from one address. nil means no limit.
	Failed *limit.Limit
	// Visits limits the visits of one person of a company to this program. nil means no limit.
	Visits *limit.Limit
	// PINState returns the state of a company's transaction PIN: NOT_SET, SET or LOCKED.
	PINState func(ctx context.Context, company string) (string, error)
	// Reports draws proofs of payment.
	Reports *report.Service
	// Company is the companies' API, which the pages of companies' people ask.
	Company http.Handler
}

// side is one of the two sides: the operators' pages below /console, and the pages of companies' people below
// /app. A person of one side is nobody on the other one.
type side struct {
	base   string // the beginning of all addresses
	cookie string // the name of the cookie with the session
	items  []item // of the menu
}

var (
	operators = side{"/console", "__Host-kobo_operator", items}
	companies = side{"/app", "__Host-kobo_company", appItems}
)

type console struct {
	Config
	side
	mux     *http.ServeMux
	routes  map[string]route
	buckets *limit.Buckets
	visits  *limit.Buckets // of people, apart from those that strangers fill
	sending *sending
	forms   *forms
	waiting *waiting
	answers *answers
	unsents *unsents
	lists   *lists
}

// route is a page, or the target of a form.
type route struct {
	// show returns a page. After a form with a mistake, it returns the page with the form.
	show func(v *visit) (view, error)
	// do does what a form asks for. It returns the address of the page that shows the result.
	do func(v *visit) (string, error)
	// on returns the address of the page with a form that stands on pages with addresses of their own. A refused form shows this
	// page again.
	on func(v *visit) string
	// stream says what has changed whenever the page that listens has to load itself again.
	stream func(v *visit, say sayer) error
	// download writes a file. Before it writes, it returns the error that a page shows instead.
	download func(v *visit) error
	// query lists the names that the address may have after the question mark.
	query []string
	// open is true for the pages that nobody has to sign in for.
	open bool
	// proof is the proof of who the person is that a form needs. A form that calls an operation of the operators'
	// API says none here, because visit.call asks for it.
	proof demand
	// first is true for forms that make a passkey or a password. A session that began by a link may send one of
	// them without a fresh proof (person.MayMakeFirst).
	first bool
}

// view is a page without its frame.
type view struct {
	title string
	item  string // the item of the menu to which the page belongs
	body  component
	thing string   // the thing that the page is about, in words without personal data; "" for none
	rows  []string // the keys of the rows of a list, the newest first, if new rows come at its top
}

// New returns the handler of all addresses below /console.
func New(c Config) http.Handler {
	k := newConsole(c, operators)
	return k.handler(k.all())
}

func newConsole(c Config, s side) *console {
	return &console{
		Config: c, side: s, mux: http.NewServeMux(), routes: map[string]route{}, forms: newForms(), waiting: &waiting{}, answers: &answers{kept: map[string]keptAnswer{}}, lists: &lists{kept: map[string]*listNow{}},
		unsents: &unsents{kept: map[string]unsent{}},
		buckets: limit.New(clock.System{}), visits: limit.New(clock.System{}), sending: &sending{files: map[string]int{}},
	}
}

// handler returns the handler of all addresses of a side: those that both sides have, and its own ones.
func (c *console) handler(own ...map[string]route) http.Handler {
	for _, some := range append(own, c.signInRoutes(), c.meRoutes(), c.preferenceRoutes(), c.typedRoutes(), c.columnRoutes(), c.viewRoutes()) {
		maps.Copy(c.routes, some)
	}
	for pattern, r := range c.routes {
		c.mux.HandleFunc(pattern, c.serve(r))
	}
	c.mux.Handle("GET "+c.base+"/assets/", assets())
	c.mux.HandleFunc(c.base+"/", c.serve(route{show: nothingHere}))
	c.mux.Handle("GET "+c.base, http.RedirectHandler(c.base+"/", http.StatusSeeOther))
	c.mux.HandleFunc("GET "+c.base+"/{$}", c.start)
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(c.refuseOther))
	return guarded(sameOrigin.Handler(c.mux))
}

// all returns the routes of the operators' own pages.
func (c *console) all() map[string]route {
	out := map[string]route{}
	for _, some := range []map[string]route{
		c.peopleRoutes(), c.caseRoutes(), c.proposalRoutes(), c.timelineRoutes(), c.paymentRoutes(), c.depositRoutes(), c.overviewRoutes(), c.moneyRoutes(), c.revenueRoutes(), c.feeRoutes(), c.bankDayRoutes(), c.systemRoutes(),
		c.liveRoutes(), c.searchRoutes(), c.companyRoutes(), c.changeRoutes(), c.webhookRoutes(), c.companyPeopleRoutes(), c.maintenanceRoutes(), c.inboxRoutes(),
	} {
		maps.Copy(out, some)
	}
	return out
}

// start leads to the first page of the menu.
func (c *console) start(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, c.menu()[0].path, http.StatusSeeOther)
}

// guarded sets the headers that every response of the console has.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "HX-Request")
		next.ServeHTTP(w, r)
	})
}

// serve returns the handler of a route.
func (c *console) serve(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Request: r, w: w, console: c, route: to, began: c.now()}
		form, again := r.Context().Value(formKey{}).(shownForm)
		signedIn, err := v.identify()
		if err == nil && !again {
			err = v.countVisit()
		}
		switch {
		case err != nil:
			v.fail(err)
		case !signedIn && !to.open:
			v.askToSignIn()
		case again:
			v.showAgain(form)
		case r.Method == http.MethodPost:
			v.post()
		case to.stream != nil:
			v.stream()
		default:
			v.get()
		}
	}
}

// item is an item of the menu.
type item struct {
	key, label, path string
	letter           string // the key that opens the page, after the key g
}

// items are all items of the menu, in their order.
var items = []item{
	{"overview", "Overview", "/console/overview", "o"},
	{"payments", "Payments", "/console/payments", "p"},
	{"companies", "Companies", "/console/companies", "c"},
	{"cases", "Cases", "/console/cases", "k"},
	{"waiting", "Waiting for me", "/console/waiting", "w"},
	{"money", "Money", "/console/money", "m"},
	{"system", "System", "/console/system", "s"},
}

// menu returns the items whose page exists.
func (c *console) menu() []item {
	return slices.DeleteFunc(slices.Clone(c.items), func(i item) bool {
		_, exists := c.routes["GET "+i.path]
		return !exists
	})
}

// now returns the time that pages show.
func (c *console) now() time.Time { return c.Clock.Now() }

// ahead returns how far the clock of sandbox mode has been moved.
func (c *console) ahead() time.Duration {
	if m, moves := c.Clock.(interface{ Offset() time.Duration }); moves {
		return m.Offset()
	}
	return 0
}

// refuseOther answers a form that another site sent. It does not look at the session, so the page has no name and no menu.
func (c *console) refuseOther(w http.ResponseWriter, r *http.Request) {
	v := &visit{Request: r, w: w, console: c, began: c.now()}
	v.fail(errForeign)
}

var errForeign = fault.New(fault.Forbidden, "A page of another site has sent this form to Kobo. Open Kobo yourself, and send the form from there.")

// nothingHere is the page for an address that does not exist.
func nothingHere(*visit) (view, error) { return view{}, errNothing }

// log logs an error that the visitor does not read.
func (c *console) log(ctx context.Context, what string, err error) {
	if err != nil {
		c.Log.ErrorContext(ctx, fmt.Sprintf("console: %s", what), "error", err)
	}
}

// isOwn reports whether an address is a page of this side, to which a form may lead back.
func (c *console) isOwn(address string) bool {
	at, err := url.Parse(address)
	return err == nil && at.Scheme == "" && at.Host == "" && c.isOwnPath(at.Path)
}

// isOwnPath is isOwn for the path of an address without its percent signs. A browser shortens a path with "..", so that it may
// lead elsewhere. A path that can be shortened is none of ours.
func (c *console) isOwnPath(at string) bool {
	clean := path.Clean(at)
	if strings.HasSuffix(at, "/") {
		clean += "/"
	}
	return at == clean && strings.HasPrefix(at, c.base+"/") && !strings.ContainsAny(at, "\\\r\n\t") &&
		!strings.HasPrefix(at, c.base+"/sign-in") && !strings.HasPrefix(at, c.base+"/link/")
}

// at returns the address of a page of this side.
func (c *console) at(path string) string { return c.base + path }

// isForCompanies reports whether this is the side of companies' people.
func (c *console) isForCompanies() bool { return c.base == companies.base }
