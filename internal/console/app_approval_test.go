package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	who "github.com/kobo-waas/kobo/internal/person"
)

// checks asks for the name of an account at the pages, and returns the page that confirms the payout.
func (p *person) checks(account, amount string) string {
	p.t.Helper()
	return p.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
		"bank_code": "000013", "account_number": account, "amount": amount, "fromSettlementId": "1", "pin": p.company.PIN,
	}).location
}

// costs makes each payout of the company cost a fee.
func (w *world) costs(fee money.Kobo) {
	w.t.Helper()
	if err := w.app.Payouts.SetFees(w.t.Context(), operator.Local("test"), w.company.Reference, payout.Schedule{{Flat: fee}}); err != nil {
		w.t.Fatal(err)
	}
}

// press sends a form without fields, as a person who has the page of an approval still open.
func (p *person) press(path string) page {
	p.t.Helper()
	return p.send(path, url.Values{"form": {number.FindStringSubmatch(p.read("/app/me"))[1]}})
}

// says reads a page, which must have some texts.
func (p *person) says(path string, want ...string) string {
	p.t.Helper()
	text := html.UnescapeString(p.read(path))
	for _, one := range want {
		if !strings.Contains(text, one) {
			p.t.Errorf("%s does not have %q: %s", path, one, text)
		}
	}
	return text
}

// changes returns what has changed of an approval, as the companies' API says it. The address is that of the page.
func (w *world) changes(at string) []api.ApprovalChange {
	w.t.Helper()
	var token struct{ AccessToken string }
	w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
	var said struct{ Data api.Approval }
	w.asCompany("GET", strings.Replace(at, "/app/", "/api/v1/company/", 1), token.AccessToken, nil, &said)
	return said.Data.Changes
}

// The page of an approval shows what leaves which account. The approval leads to the payout, and ends the other requests
// for the same payout. The story of the payout begins with the two people.
func TestAnApprovalShowsTheMoneyAndEndsTheOthers(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		w.costs(25 * money.Naira)
		if g := ada.require("1000"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		draft, other := fola.checks("0123456710", "5000"), fola.checks("0123456710", "6000")
		tab, another := fola.form(draft, nil), fola.form(draft, nil)
		first := fola.send(draft, tab).approval(t)
		fola.says(draft, "It waits for an owner", first)
		if strings.Contains(fola.read(other), "It waits for an owner") {
			t.Error("another draft waits")
		}
		second := fola.send(draft, another).approval(t)
		alone := fola.send(other, fola.form(other, nil)).approval(t)
		if first == second {
			w.t.Fatal("two requests are one approval")
		}
		ada.says(first, "Main account", "₦5,000.00", "₦25.00", "₦5,025.00", "Two people from ₦1,000.00 on")
		paid := ada.press(first + "/approve")
		if !strings.HasPrefix(paid.location, "/app/p/") {
			w.t.Fatalf("%d to %q: %s", paid.status, paid.location, paid.text)
		}
		ada.says(second, "Withdrawn")
		if g := ada.press(second + "/approve"); g.status != http.StatusConflict || !strings.Contains(g.text, "The approval does not wait any more") {
			t.Errorf("the other request: %d %s", g.status, g.text)
		}
		if w.paid() != 1 {
			w.t.Fatalf("%d payouts", w.paid())
		}
		ada.says(alone, "Waiting for approval")
		later(t, func() string {
			text := html.UnescapeString(fola.read(paid.location))
			for _, want := range []string{
				"Person fola sent the request", "POST /api/v1/settlement/send-payout", "Idempotency-Key page-", "Person ada sent the request",
				"A second person approved it", "ada approved it. fola asked for it at ", "two people from ₦1,000.00 on",
			} {
				if !strings.Contains(text, want) {
					return "no " + want + " in " + text
				}
			}
			return ""
		})
	})
}

// Two people who approve two requests for the same payout at the same time send it once. One of them reads that the other
// request has ended.
func TestTwoRequestsForAPayoutPayOnce(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		if g := ada.require("1000"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		draft := fola.checks("0123456710", "5000")
		first, second := fola.send(draft, fola.form(draft, nil)).approval(t), fola.send(draft, fola.form(draft, nil)).approval(t)
		one, two := ada.form(first, nil), bola.form(second, nil)
		var all sync.WaitGroup
		var of [2]page
		all.Go(func() { of[0] = ada.send(first+"/approve", one) })
		all.Go(func() { of[1] = bola.send(second+"/approve", two) })
		all.Wait()
		if w.paid() != 1 {
			w.t.Fatalf("%d payouts", w.paid())
		}
		statuses := map[int]int{of[0].status: 1}
		statuses[of[1].status]++
		late := statuses[http.StatusConflict] + statuses[http.StatusUnprocessableEntity]
		if statuses[http.StatusSeeOther] != 1 || late != 1 {
			t.Errorf("%v: %s %s", statuses, of[0].text, of[1].text)
		}
	})
}

// A second person approves the fee too. With another fee the payout, and the bulk payout, are asked for again.
func TestAnApprovalHoldsForItsFee(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		w.costs(25 * money.Naira)
		if g := ada.require("150"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		draft := fola.checks("0123456710", "5000")
		one := fola.send(draft, fola.form(draft, nil)).approval(t)
		bulk := fola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100\n000013,0123456711,50",
		}).location
		later(t, func() string {
			if text := fola.read(bulk); !strings.Contains(text, "Ask a second person to approve") {
				return text
			}
			return ""
		})
		ask := func() string {
			t.Helper()
			return fola.submit(bulk, bulk+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
		}
		old := ask()
		if text := ada.read(old); !strings.Contains(text, "Approve and send") {
			t.Error(text)
		}
		w.costs(30 * money.Naira)
		for at, fees := range map[string][2]string{one: {"25.00", "30.00"}, old: {"50.00", "60.00"}} {
			if got := w.changes(at); len(got) != 1 || got[0] != (api.ApprovalChange{Field: "fee", Then: fees[0], Now: fees[1]}) {
				t.Errorf("%s: the API says %v", at, got)
			}
			row := `<tr><th scope="row">Fee</th><td>₦` + fees[0] + `</td><td><strong>₦` + fees[1] + `</strong></td></tr>`
			for _, p := range []*person{ada, fola} {
				p.says(at, row, `>When fola asked</th><th scope="col">Now</th>`)
			}
			if text := ada.says(at, "Nobody can approve this any more", "The fee has changed since this was asked for", "Reject"); strings.Contains(text, "Approve and send") {
				t.Error("an approval that nobody can approve has its button")
			}
			if g := ada.press(at + "/approve"); g.status != http.StatusConflict || !strings.Contains(g.text, "The fee has changed since this was asked for") {
				t.Errorf("%s: %d %s", at, g.status, g.text)
			}
		}
		if w.paid() != 0 {
			w.t.Fatalf("%d payouts", w.paid())
		}
		fola.says(bulk, "Ask a second person to approve ₦150.00") // the old request can never be approved
		waits := ask()
		fola.says(bulk, "It waits for an owner", waits)
		ada.says(waits, "Main account", "₦150.00", "₦60.00", "₦210.00")
		if g := ada.press(waits + "/approve"); g.location != bulk || w.paid() != 2 {
			w.t.Fatalf("%d to %q, %d payouts: %s", g.status, g.location, w.paid(), g.text)
		}
		ada.says(old, "Withdrawn")
		line := regexp.MustCompile(`/app/p/[0-9a-f-]{36}`).FindString(fola.read(bulk))
		later(t, func() string {
			text := html.UnescapeString(fola.read(line))
			for _, want := range []string{"A second person approved it", "ada approved it. fola asked for it", "/confirm"} {
				if !strings.Contains(text, want) {
					return "no " + want + " in " + text
				}
			}
			return ""
		})
	})
}
