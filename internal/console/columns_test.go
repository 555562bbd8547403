package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// chooses sends the form with the columns of a list.
func (p *person) chooses(list, to string, columns ...string) page {
	p.t.Helper()
	form := p.form(list, map[string]string{"list": list, "to": to})
	form["column"] = columns
	return p.send(p.at("/columns"), form)
}

// at returns an address of the person's side.
func (p *person) at(path string) string {
	if strings.HasPrefix(p.cookie, "__Host-kobo_company") {
		return "/app" + path
	}
	return "/console" + path
}

// heads returns the heads of the columns of a page's table.
func (p *person) heads(path string) string {
	p.t.Helper()
	_, head, _ := strings.Cut(p.read(path), "<thead>")
	head, _, _ = strings.Cut(head, "</thead>")
	var out []string
	for _, one := range strings.Split(head, "</th>") {
		out = append(out, strings.TrimSpace(one[strings.LastIndex(one, ">")+1:]))
	}
	return strings.TrimSpace(strings.Join(out, " "))
}

var sessionCell = regexp.MustCompile(`data-label="Session id"[^>]*><span class="nowrap"><code title="[0-9]{30}"`)

// The choice of columns is that of one person and one list. The row keeps its link, whatever columns it has.
func TestAPersonChoosesTheColumnsOfAList(t *testing.T) {
	each(t, func(w *world) {
		bola, vera, dev := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer), w.signIn("dev")
		fields := map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "1500.50", "fromSettlementId": "1", "pin": w.company.PIN, "externalReference": "INVOICE-7"}
		to := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		story := bola.submit(to, to, nil).location
		const list, all = "/app/payouts", "/console/payments"
		usual := bola.heads(list)
		if g := bola.chooses(list, list+"?status=SUCCESS", "own", "amount"); g.status != http.StatusSeeOther || g.location != list+"?status=SUCCESS" {
			w.t.Fatalf("%d to %q: %s", g.status, g.location, g.text)
		}
		if heads := bola.heads(list); heads != "Time Amount Own reference" {
			t.Errorf("%q", heads)
		}
		bola.says(list, "INVOICE-7", `href="`+story+`"`, `id="column-own" name="column" value="own" checked`)
		if heads := vera.heads(list); heads != usual || usual != "Time To Amount Fee State Reference" {
			t.Errorf("the choice of one person is that of another one: %q, %q", heads, usual)
		}
		for _, ledger := range []string{"/app/money", "/app/services/purchases", "/app/money/ledger"} {
			if g := bola.chooses(ledger, ledger, "reference"); g.status != http.StatusSeeOther {
				t.Errorf("%s: %d", ledger, g.status)
			}
			bola.read(ledger)
		}
		if heads := bola.heads("/app/money/ledger"); heads != "Time Reference" {
			t.Errorf("%q", heads)
		}
		if g := dev.chooses(all, "https://elsewhere.example/", "own", "session", "provider", "fee", "reference"); g.location != all {
			t.Errorf("%d to %q", g.status, g.location)
		}
		if text := dev.says(all, "INVOICE-7", "safehaven", story[len("/app/p/"):]); !sessionCell.MatchString(text) {
			t.Errorf("the list has no session id: %s", text)
		}
		if heads := dev.heads(all); heads != "When Fee Provider Session id Own reference Reference" {
			t.Errorf("%q", heads)
		}
		for name, g := range map[string]page{
			"an unknown column":       bola.chooses(list, list, "amount", "pin"),
			"the column of another":   bola.chooses("/app/money", list, "session", "balance"),
			"no column":               bola.chooses(list, list),
			"eight columns":           bola.chooses(list, list, "to", "amount", "fee", "state", "narration", "session", "own"),
			"a list of the operators": bola.send("/app/columns", bola.form(list, map[string]string{"list": all, "column": "fee"})),
			"no list":                 bola.send("/app/columns", bola.form(list, map[string]string{"list": "/app/nowhere", "column": "fee"})),
		} {
			if g.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", name, g.status)
			}
		}
		if heads := bola.heads(list); heads != "Time Amount Own reference" {
			t.Errorf("a refused choice has changed the list: %q", heads)
		}
		g := bola.chooses(list, list+"?status=SUCCESS", "to", "fee", "state", "narration", "session", "own", "reference")
		holds(t, g, "<h1>Payouts</h1>", "A list shows 7 columns at most", `<details class="columns" open>`, `value="SUCCESS" selected`, `value="narration" checked`, `data-page="/app/payouts?status=SUCCESS"`)
		if strings.Contains(g.text, `value="amount" checked`) {
			t.Error("the form has the choice of before, and not the one that was sent")
		}
		holds(t, dev.chooses(all, all), "<h1>Payments</h1>", "Choose a column beside When", `<details class="columns" open>`)
		bola.send("/app/columns", bola.form(list, map[string]string{"list": list, "usual": "yes"}))
		if heads := bola.heads(list); heads != usual {
			t.Errorf("%q", heads)
		}
	})
}

// holds checks that a refused form is shown again with some texts.
func holds(t testing.TB, g page, wants ...string) {
	t.Helper()
	for _, want := range append(wants, "<title>Error: ", `id="problem"`) {
		if g.status != http.StatusUnprocessableEntity || strings.Count(g.text, `id="problem"`) != 1 || !strings.Contains(g.text, want) {
			t.Errorf("%d lacks %q: %s", g.status, want, g.text)
		}
	}
}

// A cell without a text has nothing in it, not even a space, so that a stacked row on a phone leaves out its label.
func TestAStackedRowLeavesOutEmptyCells(t *testing.T) {
	w := open(t)
	bola, dev := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev")
	w.payout("0123456710", 1_000)
	w.customerAccount()
	bola.chooses("/app/payouts", "/app/payouts", "time", "state", "own")
	text := bola.read("/app/payouts")
	if !strings.Contains(text, `data-label="Own reference" class=""></td>`) {
		t.Fatalf("a payout without an own reference has no empty cell: %s", text)
	}
	spaces := regexp.MustCompile(`<td[^>]*>(?:\s|</?span[^>]*>)+</td>`)
	for p, paths := range map[*person][]string{bola: appPages, dev: {"/console/payments", "/console/companies", "/console/companies/" + w.company.Reference + "/customers", "/console/companies/" + w.company.Reference + "/virtual-accounts", "/console/cases", "/console/money", "/console/system"}} {
		for _, path := range paths {
			if one := spaces.FindString(p.read(path)); one != "" {
				t.Errorf("%s has %q", path, one)
			}
		}
	}
	_, sheet, _ := strings.Cut(text, `<link rel="stylesheet" href="`)
	if css := bola.read(strings.SplitN(sheet, `"`, 2)[0]); !strings.Contains(css, "table.stack td:empty { display: none; }") {
		t.Error("an empty cell of a stacked row is shown")
	}
}
