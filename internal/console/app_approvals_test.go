package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	who "github.com/kobo-waas/kobo/internal/person"
)

// sends asks for a payout of an amount at the pages, and returns the answer to the last form.
func (p *person) sends(account, amount string) page {
	p.t.Helper()
	to := p.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
		"bank_code": "000013", "account_number": account, "amount": amount, "fromSettlementId": "1", "pin": p.company.PIN,
	}).location
	form := p.form(to, nil)
	first, second := p.send(to, form), p.send(to, form)
	if first.location != second.location {
		p.t.Fatalf("a form sent twice leads to %q and %q", first.location, second.location)
	}
	return first
}

// require makes the payouts of people wait from an amount on.
func (p *person) require(amount string) page {
	p.t.Helper()
	return p.send("/app/settings/payout-approval", p.form("/app/approvals", map[string]string{"amount": amount}))
}

// paid returns the number of the company's payouts.
func (w *world) paid() int64 {
	w.t.Helper()
	n, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT count(*) FROM operation WHERE company_id = $1 AND kind = 'payout'`, w.company.Reference)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// pageOf returns the path to which a person was led, if it is the page of an approval.
func (g page) approval(t *testing.T) string {
	t.Helper()
	if !regexp.MustCompile(`^/app/approvals/[0-9a-f-]{36}$`).MatchString(g.location) {
		t.Fatalf("%d to %q, not to an approval: %s", g.status, g.location, g.text)
	}
	return g.location
}

// A payout from the company's amount on waits for a second person who pays. It moves nothing before, is sent once after
// any number of approvals at the same time, and pays what the second person has seen.
func TestAPayoutWaitsForASecondPerson(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		w.seat(w.company.Reference, "dev", who.Developer)
		if g := ada.require("1000"); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Nobody else could approve") {
			w.t.Fatalf("one person alone requires two: %d", g.status)
		}
		fola, bola := w.seat(w.company.Reference, "fola", who.Finance), w.seat(w.company.Reference, "bola", who.Finance)
		emeka, vera := w.seat(w.company.Reference, "emeka", who.Developer), w.seat(w.company.Reference, "vera", who.Viewer)
		if g := ada.require("1000"); g.location != "/app/approvals" {
			w.t.Fatalf("%d, %s", g.status, g.text)
		}
		if g := fola.sends("0123456710", "999.99"); !strings.HasPrefix(g.location, "/app/p/") || w.paid() != 1 {
			w.t.Fatalf("a payout below the amount waits: %q", g.location)
		}
		w.payout("0123456710", 2_000) // a program pays alone
		if w.paid() != 2 {
			w.t.Fatal("a program waits")
		}
		at := fola.sends("0123456710", "1000").approval(t)
		text := html.UnescapeString(bola.read(at))
		for _, want := range []string{"MOHAMMED ADA", "0123456710", "₦1,000.00", "Approve and send", "asked by fola"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page does not have %q: %s", want, text)
			}
		}
		if home := bola.read("/app/home"); !strings.Contains(html.UnescapeString(home), "₦1,000.00 to MOHAMMED ADA") {
			t.Error("the first page does not show what waits")
		}
		for name, p := range map[string]*person{"who asked": fola, "a developer": emeka, "a viewer": vera} {
			if strings.Contains(p.read(at), "Approve and send") {
				t.Errorf("%s sees the button", name)
			}
			form := url.Values{"form": {number.FindStringSubmatch(p.read("/app/me"))[1]}}
			if g := p.send(at+"/approve", form); g.status != http.StatusForbidden {
				t.Errorf("%s approves: %d", name, g.status)
			}
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		if g := eve.get(at); g.status != http.StatusNotFound {
			t.Errorf("another company: %d", g.status)
		}
		if w.paid() != 2 {
			w.t.Fatal("it was sent before a second person approved")
		}
		var all sync.WaitGroup
		for _, p := range []*person{ada, bola, ada, bola} {
			form := p.ready(at+"/approve", p.form(at, nil))
			all.Go(func() { p.sendOnly(at+"/approve", form) })
		}
		all.Wait()
		if w.paid() != 3 {
			w.t.Fatalf("%d payouts", w.paid())
		}
		page := regexp.MustCompile(`/app/p/[0-9a-f-]{36}`).FindString(fola.read(at))
		if text := html.UnescapeString(fola.read(page)); !strings.Contains(text, "₦1,000.00 to MOHAMMED ADA") || !strings.Contains(text, "Paid") {
			t.Error(text)
		}
		bola.lacks(at, "A payout of the same amount to the same account is in the last 7 days")
		bola.says(fola.sends("0123456710", "1000").approval(t), "A payout of the same amount to the same account is in the last 7 days", page, "Approve and send")
	})
}

// removes ends the access of somebody of the same company.
func (p *person) removes(name string) {
	p.t.Helper()
	other, err := p.app.People.FindNamed(p.t.Context(), p.company.Reference, name)
	if err != nil {
		p.t.Fatal(err)
	}
	p.submit("/app/settings/people", "/app/settings/people/"+other.ID+"/remove", nil)
}

// A rejected, withdrawn or old request sends nothing, and neither does one of a person who was removed.
func TestARequestThatEndsSendsNothing(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		gbenga := w.seat(w.company.Reference, "gbenga", who.Finance)
		if g := ada.require("0.01"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		approve := func(at string, want int) {
			t.Helper()
			form := url.Values{"form": {number.FindStringSubmatch(ada.read("/app/me"))[1]}}
			if g := ada.send(at+"/approve", form); g.status != want {
				t.Errorf("%d, want %d: %s", g.status, want, g.text)
			}
		}
		rejected, withdrawn := fola.sends("0123456710", "10").approval(t), fola.sends("0123456710", "20").approval(t)
		ada.submit(rejected, rejected+"/reject", nil)
		fola.submit(withdrawn, withdrawn+"/reject", nil)
		approve(rejected, http.StatusConflict)
		approve(withdrawn, http.StatusConflict)
		if text := fola.read(withdrawn); !strings.Contains(text, "Withdrawn") {
			t.Error(text)
		}
		// The account holds ₦1,000,000, so the larger one cannot wait at all.
		if g := fola.sends("0123456710", "2000000"); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Insufficient balance") {
			t.Errorf("%d, %s", g.status, g.text)
		}
		gone := fola.sends("0123456710", "30").approval(t)
		ada.removes("fola")
		approve(gone, http.StatusConflict)
		w.seat(w.company.Reference, "fola", who.Finance) // somebody else, who has not asked
		approve(gone, http.StatusConflict)
		if text := ada.read(gone); !strings.Contains(text, "Whoever asked for this has no access any more") || strings.Contains(text, "Approve and send") {
			t.Error(text)
		}
		old := gbenga.sends("0123456710", "40").approval(t)
		w.asCompany("POST", "/sandbox/clock", "", map[string]any{"advance": (24 * time.Hour).String()}, nil)
		approve(old, http.StatusConflict)
		if w.paid() != 0 {
			t.Errorf("%d payouts", w.paid())
		}
	})
}

// A bulk payout waits by its sum. A second person confirms all its lines at once.
func TestABulkPayoutWaitsForASecondPerson(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("150"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		at := fola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100\n000013,0123456711,50",
		}).location
		later(t, func() string {
			if text := html.UnescapeString(fola.read(at)); !strings.Contains(text, "Ask a second person to approve ₦150.00") {
				return text
			}
			return ""
		})
		if g := fola.send(at+"/send", fola.form(at, map[string]string{"pin": "0000"})); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "Invalid PIN") {
			t.Errorf("a wrong PIN: %d", g.status)
		}
		waits := fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
		if text := html.UnescapeString(ada.read(waits)); !strings.Contains(text, "Bulk payout of 2 lines, ₦150.00") || !strings.Contains(text, `<a href="`+at+`">Read the 2 lines</a>`) || w.paid() != 0 {
			w.t.Fatal(text)
		}
		ada.submit(waits, waits+"/approve", nil)
		if w.paid() != 2 {
			t.Errorf("%d payouts", w.paid())
		}
		later(t, func() string {
			if text := fola.read(at); !strings.Contains(text, "Completed") {
				return text
			}
			return ""
		})
	})
}

// An owner cannot add a person who would approve, and cannot end the rule alone.
func TestAnOwnerAloneDoesNotWeakenTheRuleForPayouts(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("500"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		if g := ada.send("/app/settings/people/invite", ada.form("/app/settings/people", map[string]string{"name": "mallam", "role": who.Finance})); g.status != http.StatusUnprocessableEntity {
			t.Errorf("an owner invites who approves: %d", g.status)
		}
		if g := fola.require("1"); g.status != http.StatusForbidden {
			t.Errorf("finance changes the rule: %d", g.status)
		}
		ada.submit("/app/approvals", "/app/settings/payout-approval", map[string]string{"end": "true"})
		if text := ada.read("/app/approvals"); !strings.Contains(text, "Require two people for payouts no longer") || !strings.Contains(text, "<strong>₦500.00</strong>") {
			w.t.Fatal(text)
		}
		at := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(fola.read("/app/approvals"))
		if g := ada.send(at+"/approve", url.Values{"form": {number.FindStringSubmatch(ada.read("/app/me"))[1]}}); g.status != http.StatusForbidden {
			t.Errorf("the owner approves: %d", g.status)
		}
		fola.submit(at, at+"/approve", nil)
		if text := ada.read("/app/approvals"); !strings.Contains(text, "One person sends a payout alone.") {
			t.Error(text)
		}
	})
}
