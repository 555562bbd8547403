package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

var appLink = regexp.MustCompile(`(/app/link/[a-z0-9]+/[A-Za-z0-9_-]+)`)

// crew returns the row of a person of the company.
func (w *world) crew(name string) who.Person {
	w.t.Helper()
	p, err := w.app.People.FindNamed(w.t.Context(), w.company.Reference, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// A company cannot lock itself out of its payouts: somebody who has never signed in is no second person, and an owner
// cannot take away the last one. Operators can.
func TestTheLastOtherApproverStays(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		const people = "/app/settings/people"
		invite := func(name, role string) page {
			return ada.send(people+"/invite", ada.form(people, map[string]string{"name": name, "role": role}))
		}
		if g := invite("musa", who.Finance); g.status != http.StatusSeeOther {
			w.t.Fatalf("%d %s", g.status, g.text)
		}
		if g := ada.require("1000"); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Nobody else could approve") {
			t.Errorf("somebody who has never signed in counts: %d", g.status)
		}
		w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("1000"); g.location != "/app/approvals" {
			w.t.Fatalf("%d %s", g.status, g.text)
		}
		demote := func(name, role string) page {
			return ada.send(people+"/"+w.crew(name).ID+"/role", ada.form(people, map[string]string{"role": role}))
		}
		end := func(name string) page {
			return ada.send(people+"/"+w.crew(name).ID+"/remove", ada.form(people, nil))
		}
		for what, g := range map[string]page{"demoted": demote("fola", who.Viewer), "ended": end("fola")} {
			if g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "two people who approve must stay") {
				t.Errorf("the last other approver is %s: %d", what, g.status)
			}
		}
		if g := end("musa"); g.status != http.StatusSeeOther {
			t.Errorf("somebody who has never signed in must stay: %d %s", g.status, g.text)
		}
		// A person who approves nothing by the rule may be invited, and may use the link.
		for _, role := range []string{who.Viewer, who.Developer} {
			g := invite("new-"+role, role)
			if g.status != http.StatusSeeOther {
				t.Errorf("a %s is refused: %d %s", role, g.status, g.text)
				continue
			}
			link := found(t, appLink, ada.read(g.location))
			guest := &person{world: w, name: role}
			if guest.submit(link, link, nil); guest.cookie == "" {
				t.Errorf("the %s does not come in", role)
			}
			if g := demote("new-"+role, who.Finance); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "one owner cannot add a person who approves") {
				t.Errorf("an owner makes the %s approve: %d", role, g.status)
			}
		}
		w.seat(w.company.Reference, "bola", who.Finance)
		if g := end("bola"); g.status != http.StatusSeeOther {
			t.Errorf("one of three: %d %s", g.status, g.text)
		}
		if _, err := w.app.People.End(t.Context(), operator.Local("test"), w.company.Reference, w.crew("fola").ID); err != nil {
			t.Errorf("an operator: %v", err)
		}
	})
}
