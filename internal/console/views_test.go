package console_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// saves sends the form that saves a list.
func (p *person) saves(list, name string) page {
	p.t.Helper()
	return p.send(p.at("/views"), p.form(p.at("/search"), map[string]string{"to": list, "name": name}))
}

// A saved view is the address of a list with its filters. It stands above the list and in the empty search box of the person who
// has saved it, and opens for everybody who may read the list.
func TestAPersonSavesViews(t *testing.T) {
	each(t, func(w *world) {
		dev, other := w.signIn("dev"), w.signIn("dev2")
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		const stuck = "/console/payments?provider=safehaven&state=unknown"
		if g := dev.saves("/console/payments?state=unknown&after=MQ&provider=safehaven&company=", "Stuck at <Safe Haven>"); g.status != http.StatusSeeOther || g.location != stuck {
			w.t.Fatalf("%d to %q: %s", g.status, g.location, g.text)
		}
		link := `href="` + stuck + `"`
		for _, at := range []string{"/console/payments", "/console/search", "/console/me"} {
			dev.says(at, link, "Stuck at <Safe Haven>")
			if strings.Contains(dev.read(at), "<Safe Haven>") {
				t.Errorf("%s has the name as HTML", at)
			}
		}
		dev.says(stuck, link+` aria-current="page"`)
		other.lacks("/console/payments", link)
		other.read(stuck)
		if g := bola.saves("/app/payouts?status=FAILED&after=MQ", "Failed"); g.location != "/app/payouts?status=FAILED" {
			t.Errorf("%d to %q: %s", g.status, g.location, g.text)
		}
		bola.says("/app/search", `href="/app/payouts?status=FAILED"`)
		vera.lacks("/app/search", `href="/app/payouts?status=FAILED"`)

		for name, g := range map[string]page{
			"the same name":          dev.saves("/console/cases?status=OPEN", "Stuck at <Safe Haven>"),
			"no name":                dev.saves(stuck, " "),
			"a long name":            dev.saves(stuck, strings.Repeat("n", 61)),
			"the answer of a search": dev.saves("/console/search/0190a3f0-0000-7000-8000-000000000000", "Found"),
			"another host":           dev.saves("https://elsewhere.example/console/payments", "Away"),
			"a script":               dev.saves("javascript:alert(1)", "Script"),
			"no list":                dev.saves("/console/overview", "Overview"),
			"an unknown filter":      dev.saves("/console/payments?phone=08031234567", "Phone"),
			"the other side":         bola.saves(stuck, "Theirs"),
			"no such view":           dev.send("/console/views/remove", dev.form("/console/search", map[string]string{"view": "Nothing"})),
			"to a used name": func() page {
				dev.saves("/console/cases?status=OPEN", "Open cases")
				return dev.send("/console/views/rename", dev.form("/console/search", map[string]string{"view": "Open cases", "name": "Stuck at <Safe Haven>"}))
			}(),
		} {
			if g.status < http.StatusBadRequest || g.status >= http.StatusInternalServerError {
				t.Errorf("%s: %d to %q", name, g.status, g.location)
			}
		}
		long := strings.Repeat("n", 61)
		holds(t, dev.saves(stuck, long), "<h1>Payments</h1>", "A saved view has a name of 1 to 60 characters", `value="`+long+`"`, `<details class="columns" open>`)
		holds(t, dev.saves("/console/money/days", long), "<h1>Days of the banks</h1>", `value="`+long+`"`)
		dev.submit("/console/me", "/console/views/rename", map[string]string{"view": "Open cases", "name": "Cases"})
		dev.submit("/console/me", "/console/views/remove", map[string]string{"view": "Stuck at <Safe Haven>"})
		if text := html.UnescapeString(dev.read("/console/me")); strings.Contains(text, link) || !strings.Contains(text, ">Cases</a>") || strings.Contains(text, "Open cases") {
			t.Error(text)
		}
		for n := range who.MaxViews - 1 {
			if err := w.app.People.SaveView(t.Context(), w.crew("bola"), fmt.Sprint("view ", n), "/app/payouts"); err != nil {
				w.t.Fatal(err)
			}
		}
		if g := bola.saves("/app/payouts", "One more"); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "50 saved views") {
			t.Errorf("%d, %s", g.status, g.text)
		}
		// The settings of a person end with the person.
		gone := w.crew("bola")
		if _, err := w.app.People.End(t.Context(), operator.Local("test"), w.company.Reference, gone.ID); err != nil {
			w.t.Fatal(err)
		}
		if left, err := w.app.People.Settings(t.Context(), gone, who.SavedView); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
	})
}

// recentOf returns the cookie with what somebody has opened, as a page sets it.
func recentOf(g page) string {
	for _, line := range g.header.Values("Set-Cookie") {
		if value, is := strings.CutPrefix(line, "kobo_recent="); is {
			value, _, _ = strings.Cut(value, ";")
			return value
		}
	}
	return ""
}

// The empty search box leads to what the person has opened last. It names no natural person, and counts only in the session in
// which it was opened.
func TestTheEmptyBoxLeadsToWhatWasOpened(t *testing.T) {
	w := open(t)
	dev, other := w.signIn("dev"), w.signIn("dev2")
	bola := w.seat(w.company.Reference, "bola", who.Finance)
	session := bola.cookie
	var all []string
	for n := range 6 {
		reference := w.payout("0123456710", 1_000+n)
		all = append(all, reference)
		g := bola.get("/app/p/" + reference)
		kept := recentOf(g)
		text, err := base64.RawURLEncoding.DecodeString(kept)
		if err != nil || !strings.Contains(string(text), reference) || strings.Contains(string(text), "MOHAMMED") || !strings.Contains(strings.Join(g.header.Values("Set-Cookie"), "\n"), "HttpOnly; Secure") {
			t.Fatalf("%s, %v", text, err)
		}
		bola.cookie = session + "; kobo_recent=" + kept
	}
	bola.cookie = session + "; kobo_recent=" + recentOf(bola.get("/app/p/"+all[2])) // it comes first now
	text := bola.says("/app/search", "What you opened last", `href="/app/p/`+all[5]+`"`, all[5][len(all[5])-12:]+", ₦1,005.00</a>")
	if strings.Contains(text, all[0]) || strings.Count(text, `href="/app/p/`) != 5 || strings.Index(text, all[2]) > strings.Index(text, all[5]) {
		t.Error(text)
	}
	dev.cookie += "; kobo_recent=" + recentOf(dev.get("/console/p/"+all[0]))
	dev.says("/console/search", `href="/console/p/`+all[0]+`"`, "Payout …", "₦1,000.00")
	_, kept, _ := strings.Cut(dev.cookie, "; ")
	other.cookie += "; " + kept
	other.lacks("/console/search", all[0])
	if g := dev.send("/console/search", dev.form("/console/search", map[string]string{"q": " "})); g.status != http.StatusSeeOther || g.location != "/console/search" {
		t.Errorf("an empty search: %d to %q", g.status, g.location)
	}
	if g := dev.send("/console/sign-out", url.Values{"form": {dev.form("/console/search", nil).Get("form")}}); !strings.Contains(strings.Join(g.header.Values("Set-Cookie"), "\n"), "kobo_recent=; Path=/console; Max-Age=0") {
		t.Errorf("%v", g.header.Values("Set-Cookie"))
	}
}
