package console_test

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The operators' companies, fees, adjustments and decided proposals are read to the end by links. Each row is there once, also
// while rows arrive, and the filters stay. All that waits is on one page, however much it is.
func TestOperatorsReadTheListsOfTheDeskToTheEnd(t *testing.T) {
	each(t, func(w *world) {
		dev2, err := w.app.Operators.Find(t.Context(), "dev2")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		add := func() {
			w.t.Helper()
			n++
			made, _, wrong := w.app.Companies.Create(t.Context(), operator.Local("test"), fmt.Sprint("Company ", n))
			_, asked := w.app.Operators.Propose(t.Context(), dev2, made.Reference, []operator.Act{{Operation: "setLive", Body: []byte(`{"live":true}`)}})
			_, adjusted := w.app.Settlements.Adjust(t.Context(), dev2, settlement.Adjustment{
				Company: w.company.Reference, SettlementID: 1, Amount: money.Kobo(n), Direction: settlement.DirectionCredit, Reason: "test",
			})
			if err := errors.Join(wrong, asked, adjusted); err != nil {
				w.t.Fatal(err)
			}
		}
		for range 110 {
			add()
		}
		p := w.signIn("dev")
		if waits := p.read("/console/waiting"); strings.Count(waits, "<strong>Live access</strong>") != 110 || strings.Count(waits, `href="/console/adjustments/`) != 110 {
			t.Errorf("%d proposals and %d adjustments wait", strings.Count(waits, "<strong>Live access</strong>"), strings.Count(waits, `href="/console/adjustments/`))
		}
		w.plant(`UPDATE operator_proposal SET state = 'WITHDRAWN', decided_at = 1`)
		for path, mark := range map[string]*regexp.Regexp{
			"/console/companies":                        regexp.MustCompile(`data-label="Name"><a href="/console/companies/([^"]+)"`),
			"/console/money/fees":                       regexp.MustCompile(`data-label="Company"><a href="/console/companies/([^"]+)"`),
			"/console/money/adjustments?status=PENDING": regexp.MustCompile(`<a href="/console/adjustments/([^"]+)"`),
			"/console/waiting?tab=decided":              regexp.MustCompile(`href="/console/proposals/([^"]+)"`),
		} {
			before := p.follow(path, mark, func() {})
			if len(before) < 110 {
				t.Errorf("%s: %d rows", path, len(before))
			}
			if unique := slices.Compact(slices.Sorted(slices.Values(before))); len(unique) != len(before) {
				t.Errorf("%s: %d of %d rows are different", path, len(unique), len(before))
			}
			if got := p.follow(path, mark, add); !slices.Equal(got, before) {
				t.Errorf("%s: other rows while rows arrive: %d; want %d", path, len(got), len(before))
			}
		}
	})
}

func TestAWrongCursorAtTheDeskHasAPage(t *testing.T) {
	w := open(t)
	p := w.signIn("dev")
	for _, path := range []string{"/console/companies?", "/console/money/fees?", "/console/money/adjustments?", "/console/waiting?tab=decided&"} {
		if g := p.get(path + "after=" + id.New()); g.status != http.StatusBadRequest || !strings.Contains(html.UnescapeString(g.text), `"after" is not a cursor of this list`) {
			t.Errorf("%s: %d, %s", path, g.status, g.text)
		}
		p.says(path+"after=LTEvYQ", "There is nothing older.", ">Newest</a>")
		if g := p.get(path + "page=2"); g.status != http.StatusBadRequest {
			t.Errorf("%s: %d, %s", path, g.status, g.text)
		}
	}
	for _, path := range []string{"/console/money/revenue?after=zzz!", "/console/system/inbox?after=1.x", "/console/system/inbox?after=zzz!"} {
		if g := p.get(path); g.status != http.StatusBadRequest || !strings.Contains(html.UnescapeString(g.text), `"after" is not a cursor of this list`) {
			t.Errorf("%s: %d, %s", path, g.status, g.text)
		}
	}
	for _, list := range []string{"accounts/1", "customers", "virtual-accounts", "cards", "events", "deliveries"} {
		path := "/console/companies/" + w.company.Reference + "/" + list
		for _, cursor := range []string{"zzz!", "LTEvYQ", "50.0", "-5", id.Cuid()} {
			if g := p.get(path + "?after=" + cursor); g.status != http.StatusBadRequest || !strings.Contains(html.UnescapeString(g.text), `"after" is not a cursor of this list`) {
				t.Errorf("%s: %d, %s", path, g.status, g.text)
			}
		}
	}
	if g := p.get("/console/waiting?after=LTEvYQ"); g.status != http.StatusBadRequest {
		t.Errorf("what waits has another page: %d", g.status)
	}
}

// Somebody who has asked for an adjustment withdraws it, and cannot approve it.
func TestAnAdjustmentIsWithdrawn(t *testing.T) {
	each(t, func(w *world) {
		dev, err := w.app.Operators.Find(t.Context(), "dev")
		if err != nil {
			w.t.Fatal(err)
		}
		a, err := w.app.Settlements.Adjust(t.Context(), dev, settlement.Adjustment{
			Company: w.company.Reference, SettlementID: 1, Amount: 500, Direction: settlement.DirectionCredit, Reason: "typed wrong",
		})
		if err != nil {
			w.t.Fatal(err)
		}
		p, path := w.signIn("dev"), "/console/adjustments/"+a.ID
		p.says(path, "Until then you can withdraw it.", "Withdraw it")
		p.lacks(path, "Approve ₦5.00")
		if g := p.submit(path, path+"/reject", map[string]string{"note": "it was another account"}); g.status != http.StatusSeeOther {
			w.t.Fatalf("%d, %s", g.status, g.text)
		}
		p.says(path, "Withdrawn, nothing moved", "Withdrawn by", "it was another account")
		p.lacks("/console/waiting?tab=by-me", path)
		p.says("/console/waiting?tab=decided", "No proposal has been decided yet.", `href="/console/money/adjustments"`, `href="/console/cases?status=RESOLVED"`)
		if g := p.get("/console/waiting?tab=bogus"); g.status != http.StatusBadRequest {
			w.t.Errorf("an unknown tab: %d", g.status)
		}
		p.says("/console/payments", `<option value="safehaven">Safe Haven</option>`)
		p.says("/console/companies/"+w.company.Reference+"/change/bank-account", `<option value="safehaven">Safe Haven</option>`)
		p.lacks("/console/companies/"+w.company.Reference+"/change/bank-account", "VTpass")
	})
}

// The list of companies has filters. Support finds what came in for a customer, whoever calls.
func TestOperatorsFilterCompaniesAndSeeCredits(t *testing.T) {
	each(t, func(w *world) {
		p, other := w.signIn("dev"), w.another()
		if _, err := w.app.Companies.SetLive(t.Context(), operator.Local("test"), other, false); err != nil {
			w.t.Fatal(err)
		}
		mine, theirs := `href="/console/companies/`+w.company.Reference, `href="/console/companies/`+other
		p.says("/console/companies?live=true", mine)
		p.lacks("/console/companies?live=true", theirs)
		p.says("/console/companies?live=false&kybStatus=APPROVED", theirs, "KYB: Approved ×", "live: Not live ×")
		p.lacks("/console/companies?live=false", mine)
		p.says("/console/companies?kybStatus=REJECTED", "Nothing matches.")
		for _, wrong := range []string{"live=maybe", "kybStatus=DONE"} {
			if g := p.get("/console/companies?" + wrong); g.status != http.StatusBadRequest {
				w.t.Errorf("%s: %d", wrong, g.status)
			}
		}

		number := w.customerAccount()
		w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": number, "amount": 700.5, "senderName": "ADA OBI"}, nil)
		customer := found(w.t, regexp.MustCompile(`href="(/console/companies/[^"]+/customers/[0-9a-f-]{36})"`), p.read("/console/companies/"+w.company.Reference+"/customers"))
		p.says(customer, `href="`+customer+`/credits"`)
		later(w.t, func() string { // the bank's notification is worked after the sandbox has answered
			if text := p.read(customer + "/credits"); !strings.Contains(text, "₦700.50") || !strings.Contains(text, `href="/console/p/`) {
				return text
			}
			return ""
		})
		strange := strings.Replace(customer, w.company.Reference, other, 1)
		if g := p.get(strange + "/credits"); g.status != http.StatusNotFound {
			w.t.Errorf("the customer of another company: %d", g.status)
		}
		if g := p.get(customer + "/credits?after=zzz!"); g.status != http.StatusBadRequest {
			w.t.Errorf("a wrong cursor: %d", g.status)
		}
	})
}
