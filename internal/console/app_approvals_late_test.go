package console_test

import (
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/id"
	who "github.com/kobo-waas/kobo/internal/person"
)

// lines asks for the names of a bulk payout of two lines, and returns its address once they are there.
func (p *person) lines(t *testing.T) string {
	at := p.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
		"fromSettlementId": "1", "pin": p.company.PIN, "lines": "000013,0123456710,100\n000013,0123456711,50",
	}).location
	later(t, func() string {
		if text := html.UnescapeString(p.read(at)); !strings.Contains(text, "Ask a second person to approve") {
			return text
		}
		return ""
	})
	return at
}

// Two people approve the same at the same time. One of them sends it, and the other one reads that it does not wait any
// more: not that something about the payout is wrong.
func TestTheSecondOfTwoApprovalsReadsThatItIsDecided(t *testing.T) {
	each(t, func(w *world) {
		ada, fola, bola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance), w.seat(w.company.Reference, "bola", who.Finance)
		if g := ada.require("1"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		at := fola.lines(t)
		waits := []string{fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)}
		for range 4 {
			waits = append(waits, fola.sends("0123456710", "10").approval(t))
		}
		for _, at := range waits {
			forms := []url.Values{ada.ready(at+"/approve", ada.form(at, nil)), bola.ready(at+"/approve", bola.form(at, nil))}
			var both sync.WaitGroup
			said := make([]page, 2)
			for i, p := range []*person{ada, bola} {
				both.Go(func() { said[i] = p.sendOnly(at+"/approve", forms[i]) })
			}
			both.Wait()
			sent := 0
			for _, g := range said {
				switch {
				case g.status == http.StatusSeeOther:
					sent++
				case g.status != http.StatusConflict || !strings.Contains(g.text, "The approval does not wait any more"):
					t.Errorf("%d %s", g.status, g.text)
				}
			}
			if sent != 1 {
				t.Errorf("%d people have sent it", sent)
			}
		}
		if w.paid() != 6 {
			t.Errorf("%d payouts", w.paid())
		}
	})
}

// Somebody who can write the database moves no approved money to another account: not to the same number at another bank,
// and not by another line of a bulk payout with the same sum.
func TestAnAlteredPayoutIsNotApproved(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("1"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		refused := func(what, waits, alter, restore string, want int, changes ...api.ApprovalChange) {
			t.Helper()
			for _, one := range []string{alter, restore} {
				form := ada.form(waits, nil)
				if n, err := w.app.DB.Exec(t.Context(), one, w.company.Reference); n == 0 || err != nil {
					w.t.Fatalf("%s: %d rows, %v", what, n, err)
				}
				if got := w.changes(waits); one == alter && !slices.Equal(got, changes) || one == restore && len(got) > 0 {
					t.Errorf("%s: the API says %v", what, got)
				}
				before := w.paid()
				if g := ada.send(waits+"/approve", form); one == alter && (g.status != want || w.paid() != before) {
					t.Errorf("%s: approved with %d", what, g.status)
				} else if one == restore && g.status != http.StatusSeeOther {
					t.Errorf("%s: not approved as it was: %d %s", what, g.status, g.text)
				}
			}
		}
		refused("the bank", fola.sends("0123456710", "10").approval(t),
			`UPDATE payout_verification SET bank_code = '000014' WHERE company_id = $1`,
			`UPDATE payout_verification SET bank_code = '000013' WHERE company_id = $1`, http.StatusInternalServerError,
			api.ApprovalChange{Field: "bankCode", Then: "000013", Now: "000014"})
		at := fola.lines(t)
		refused("a line", fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t),
			`UPDATE payout_bulk_line SET account_number = '0123456799' WHERE company_id = $1 AND line = 2`,
			`UPDATE payout_bulk_line SET account_number = '0123456711' WHERE company_id = $1 AND line = 2`, http.StatusConflict)
		another := fola.lines(t)
		refused("the sum", fola.submit(another, another+"/send", map[string]string{"pin": w.company.PIN}).approval(t),
			`UPDATE payout_bulk_line SET verdict = 'BAD' WHERE company_id = $1 AND line = 2`,
			`UPDATE payout_bulk_line SET verdict = 'GOOD' WHERE company_id = $1 AND line = 2`, http.StatusConflict,
			api.ApprovalChange{Field: "lines", Then: "2", Now: "1"}, api.ApprovalChange{Field: "amount", Then: "150.00", Now: "100.00"})
	})
}

// An approval has its page and is found by its id however many came after it.
func TestAnOldApprovalKeepsItsPage(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("1"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		old := fola.sends("0123456710", "10").approval(t)
		fola.submit(old, old+"/reject", nil)
		for range 11 { // 2,048 in all
			if _, err := w.app.DB.Exec(t.Context(), `
				INSERT INTO company_approval (company_id, id, kind, body, state, asked_by, created_at, expires_at, first_by, decided_by, decided_at, mac)
				SELECT company_id, $2 || substr(id, 9), kind, body, state, asked_by, created_at + 1, expires_at, first_by, decided_by, decided_at, mac
				FROM company_approval WHERE company_id = $1`, w.company.Reference, id.New()); err != nil {
				w.t.Fatal(err)
			}
		}
		ada.says(old, "Withdrawn", "₦10.00", "MOHAMMED ADA")
		if g := ada.send("/app/search", ada.form("/app/search", map[string]string{"q": strings.TrimPrefix(old, "/app/approvals/")})); g.location != old {
			t.Errorf("the search leads to %q: %d", g.location, g.status)
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		for _, none := range []string{old, "/app/approvals/none"} {
			if g := eve.get(none); g.status != http.StatusNotFound {
				t.Errorf("another company: %d", g.status)
			}
		}
	})
}

// A bulk payout that was cancelled while it waited says so in words, as its own page does.
func TestAnApprovalOfACancelledBulkPayoutSaysSoInWords(t *testing.T) {
	w := open(t)
	ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
	if g := ada.require("1"); g.location != "/app/approvals" {
		t.Fatal(g.text)
	}
	at := fola.lines(t)
	waits := fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
	form := ada.form(waits, nil)
	fola.submit(at, at+"/cancel", nil)
	if text := ada.says(waits, "Nobody can approve this any more"); strings.Contains(text, "Approve and send") || strings.Contains(text, "CANCELLED") {
		t.Error(text)
	}
	if g := ada.send(waits+"/approve", form); !strings.Contains(g.text, "Bulk payout: cancelled") || strings.Contains(g.text, "CANCELLED") {
		t.Errorf("%d %s", g.status, g.text)
	}
}
