package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

var (
	companyLinkOf = regexp.MustCompile(`<code>http://localhost:8080(/app/link/[a-z0-9]+/[A-Za-z0-9_-]+)</code>`)
	proposalOf    = regexp.MustCompile(`href="(/console/proposals/[^"]+)"`)
	linkCodeOf    = regexp.MustCompile(`\b([A-Z2-7]{12})\b`)
)

// approved has an operator approve the first proposal that waits, and returns the page with its answer.
func (p *person) approved() string {
	p.t.Helper()
	proposal := found(p.t, proposalOf, p.read("/console/waiting"))
	return p.read(p.submit(proposal, proposal+"/approve", nil).location)
}

// Two operators invite the first owner of a company at pages. One of them has the link, and the other one has the
// code.
func TestOperatorsInviteACompanysFirstOwner(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second := w.signIn("dev"), w.signIn("dev2")
		people := "/console/companies/" + w.company.Reference + "/people"
		if text := asker.read(people); !strings.Contains(text, "Nobody signs in for Demo Company yet") || !strings.Contains(text, `value="owner" selected`) {
			t.Errorf("before the first person: %s", text)
		}
		form := asker.form(people, map[string]string{"name": "olu", "role": who.Owner})
		g := asker.send(people+"/invite", form)
		shown := asker.read(g.location)
		link := found(t, companyLinkOf, shown)
		if again := asker.send(people+"/invite", form); again.location != g.location {
			t.Errorf("a form that is sent twice leads to %q and %q", g.location, again.location)
		}
		if again := asker.read(g.location); strings.Contains(again, link) {
			t.Error("the link is shown twice")
		}
		if text := asker.read(people); strings.Contains(text, "olu") {
			t.Error("olu is there before the approval")
		}
		answer := second.approved()
		code := found(t, linkCodeOf, answer)
		if strings.Contains(answer, link) {
			t.Error("the operator who approves sees the link")
		}
		if text := asker.read(people); !strings.Contains(text, "olu") || !strings.Contains(text, "Not yet") || !strings.Contains(text, "never") {
			t.Errorf("before the first sign-in: %s", text)
		}
		olu := &person{world: w, name: "olu"}
		if g := olu.send(link, olu.form(link, nil)); g.status != http.StatusUnprocessableEntity || olu.cookie != "" {
			t.Errorf("the link without the code: %d", g.status)
		}
		olu.submit(link, link, map[string]string{"code": code})
		olu.read("/app/home")
		if text := asker.read(people); strings.Contains(text, "Not yet") || strings.Contains(text, "never") || !strings.Contains(text, `value="viewer" selected`) {
			t.Errorf("after the first sign-in: %s", text)
		}
		viewer := w.add("grace", operator.Viewer)
		if text := viewer.read(people); !strings.Contains(text, "olu") || strings.Contains(text, people+"/invite") || strings.Contains(text, "/role") {
			t.Error("a viewer reads the list, and gets the forms")
		}
		if g := viewer.send(people+"/invite", viewer.form(people, map[string]string{"name": "eve", "role": who.Owner})); g.status != http.StatusForbidden {
			t.Errorf("a viewer invites: %d", g.status)
		}
	})
}

// A new role takes two operators, and the end of an access takes one. A company keeps an owner.
func TestOperatorsChangeACompanysPeople(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		asker, second := w.signIn("dev"), w.signIn("dev2")
		people := "/console/companies/" + w.company.Reference + "/people"
		olu, vera := w.seat(w.company.Reference, "olu", who.Owner), w.seat(w.company.Reference, "vera", who.Viewer)
		id := map[string]string{}
		all, err := w.app.People.People(t.Context(), w.company.Reference)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, p := range all {
			id[p.Name] = p.ID
		}
		g := asker.submit(people, people+"/"+id["vera"]+"/role", map[string]string{"role": who.Finance})
		if !strings.HasPrefix(g.location, "/console/proposals/") {
			t.Errorf("a new role leads to %s", g.location)
		}
		vera.read("/app/home")
		second.approved()
		if g := vera.get("/app/home"); g.status != http.StatusSeeOther {
			t.Errorf("a session of the earlier role: %d", g.status)
		}
		if text := asker.read(people); !strings.Contains(text, `value="finance" selected`) || !strings.Contains(text, "Not any more") && !strings.Contains(text, "Not yet") {
			t.Errorf("after the new role: %s", text)
		}
		if g := asker.send(people+"/"+id["olu"]+"/remove", asker.form(people, nil)); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "needs an owner") {
			t.Errorf("the last owner is removed: %d", g.status)
		}
		asker.submit(people, people+"/"+id["vera"]+"/remove", nil)
		if text := asker.read(people); strings.Contains(text, "vera") || !strings.Contains(text, "olu") {
			t.Error("vera is still there, or olu is not")
		}
		olu.read("/app/home")
	})
}
