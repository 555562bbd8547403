package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// A program remembers the forms of a session. The same form in another session is thus as after a restart, or at another program: an
// operator's correction, proposal or new company exists once.
func TestAFormThatNobodyRemembersActsOnce(t *testing.T) {
	each(t, func(w *world) {
		before, after := w.signIn("dev"), w.signIn("dev")
		company := "/console/companies/" + w.company.Reference
		for change, fields := range map[string]map[string]string{
			"adjustment":   {"account": "1", "direction": "credit", "amount": "5000", "reason": "missed credit"},
			"bank-account": {"account": "1", "bank": "safehaven", "number": "0123456789", "holder": "Kobo Ltd"},
			"onboarding":   {"account-name": "Second", "flat": "50", "limit": "1000000", "key": "new"},
		} {
			change = company + "/change/" + change
			_, sure := before.look(change, fields)
			form := before.form(company, sure)
			first, again := before.send(change, form), after.send(change, form)
			if first.status != http.StatusSeeOther || first.location != again.location || strings.Contains(first.location, "/done/") {
				w.t.Errorf("%s: %d to %q, and again %d to %q: %s", change, first.status, first.location, again.status, again.location, again.text)
			}
		}
		form := before.form("/console/companies/new", map[string]string{"name": "Ada Foods"})
		if g := before.send("/console/companies/new", form); g.status != http.StatusSeeOther {
			w.t.Errorf("a new company: %d, %s", g.status, g.text)
		}
		if g := after.send("/console/companies/new", form); g.status != http.StatusConflict || !strings.Contains(g.text, "has added the company") {
			w.t.Errorf("the same company again: %d to %q, %s", g.status, g.location, g.text)
		}
		for _, one := range []struct {
			table string
			want  int64
		}{{"settlement_adjustment", 1}, {"operator_proposal", 2}, {"company WHERE name = 'Ada Foods'", 1}} {
			if n, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT count(*) FROM `+one.table); err != nil || n != one.want {
				w.t.Errorf("%d rows of %s, %v", n, one.table, err)
			}
		}
	})
}
