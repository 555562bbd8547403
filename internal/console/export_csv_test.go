package console_test

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// rowsOf reads a CSV file without its head.
func (p *person) rowsOf(path string) [][]string {
	p.t.Helper()
	g := p.get(path)
	rows, err := csv.NewReader(strings.NewReader(g.text)).ReadAll()
	if err != nil || g.status != http.StatusOK || !strings.HasPrefix(g.header.Get("Content-Type"), "text/csv") || !strings.Contains(g.header.Get("Content-Disposition"), ".csv") || len(rows) == 0 {
		p.t.Fatalf("%s: %d %v %s", path, g.status, err, g.text)
	}
	return rows[1:]
}

// cellsOf reads an XLSX file without its head.
func (p *person) cellsOf(path string) [][]string {
	p.t.Helper()
	g := p.get(path)
	f, err := excelize.OpenReader(strings.NewReader(g.text))
	if err != nil || g.status != http.StatusOK || !strings.Contains(g.header.Get("Content-Disposition"), ".xlsx") {
		p.t.Fatalf("%s: %d %v", path, g.status, err)
	}
	defer f.Close()
	rows, err := f.GetRows("List", excelize.Options{RawCellValue: true})
	if err != nil || len(rows) == 0 {
		p.t.Fatalf("%s: %v", path, err)
	}
	return rows[1:]
}

// An export has all rows that pass the filters of the page, and no row of another company. The operators' audit log says
// who has exported what. The design's name of the filter works, and the old one too.
func TestPaymentsAreExportedAsTheyAreFiltered(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		for _, amount := range []string{"100", "250.50"} {
			draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": amount, "fromSettlementId": "1", "pin": w.company.PIN}).location
			bola.submit(draft, draft, nil)
		}
		own := bola.rowsOf("/app/payouts.csv")
		if len(own) != 2 || own[0][5] != "250.50" || own[1][5] != "100.00" || own[0][7] != "Paid" {
			t.Errorf("%v", own)
		}
		book := bola.cellsOf("/app/payouts.xlsx")
		if len(book) != 2 || book[0][5] != "250.50" || book[1][5] != "100.00" || book[0][11] != own[0][11] || book[0][1] != own[0][1] {
			t.Errorf("%v", book)
		}
		at := bola.counter("Airtime")
		sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "amount": "50"}).location
		bola.submit(sale, sale, nil)
		for _, rows := range [][][]string{bola.rowsOf("/app/services/purchases.csv"), bola.cellsOf("/app/services/purchases.xlsx")} {
			if len(rows) != 1 || rows[0][4] != "08031234510" || rows[0][5] != "50.00" {
				t.Errorf("purchases: %v", rows)
			}
		}
		for _, rows := range [][][]string{bola.rowsOf("/app/money.csv"), bola.cellsOf("/app/money.xlsx")} {
			if len(rows) != 0 {
				t.Errorf("credits: %v", rows)
			}
		}
		if rows := bola.rowsOf("/app/payouts.csv?status=FAILED"); len(rows) > 0 {
			t.Errorf("%v", rows)
		}
		if g := bola.get("/app/payouts.csv?status=NO"); g.status < http.StatusBadRequest || g.header.Get("Content-Disposition") != "" {
			t.Errorf("a wrong filter: %d %s", g.status, g.text)
		}
		if g := bola.get("/app/payouts.xlsx?status=NO"); g.status < http.StatusBadRequest || g.header.Get("Content-Disposition") != "" {
			t.Errorf("a wrong filter: %d %s", g.status, g.text)
		}
		eve := w.seat(w.another(), "eve", who.Owner)
		if rows := eve.rowsOf("/app/payouts.csv"); len(rows) > 0 {
			t.Errorf("another company's payouts: %v", rows)
		}
		dev := w.signIn("dev")
		page := dev.read("/console/payments?kind=payout&state=paid&least=200")
		if strings.Count(page, "/console/p/") != 1 || !strings.Contains(page, "state: Paid ×") || !strings.Contains(page, "kind: Payouts ×") {
			t.Error(page)
		}
		if rows := dev.rowsOf("/console/payments.csv?kind=payout&state=paid&least=200"); len(rows) != 1 || rows[0][5] != "250.50" || rows[0][3] != w.company.Reference {
			t.Error(rows)
		}
		if rows := dev.cellsOf("/console/payments.xlsx?kind=payout&state=failed"); len(rows) != 0 {
			t.Errorf("%v", rows)
		}
		lines, _, err := w.app.Operators.SearchAudit(t.Context(), operator.AuditFilter{Action: "read.exportPayments"}, 10, 0)
		if err != nil || len(lines) != 2 || lines[0].Subject != "kind=payout&state=failed" || lines[1].Operator != "dev" || lines[1].Subject != "kind=payout&state=paid&least=200" {
			t.Errorf("%v %v", lines, err)
		}
	})
}

// The page of a failing endpoint says what waits and what came back last. One button sends all that failed again, and the page
// confirms it.
func TestACompanyReplaysAllThatFailed(t *testing.T) {
	each(t, func(w *world) {
		endpoint := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusInternalServerError) }))
		t.Cleanup(endpoint.Close)
		one, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		w.ask("POST", "companies/"+w.company.Reference+"/payout-limits", `{"amount":5000,"payouts":3}`, nil)
		if err := w.app.Webhooks.Settled(t.Context()); err != nil {
			w.t.Fatal(err)
		}
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		page := "/app/developers/webhooks/" + one.ID
		ada.says(page, "1 delivery under way, 0 given up", "Last answer", ">500</a>", "Send all that failed again")
		text := ada.read(page)
		_, form, _ := strings.Cut(text, `<input type="hidden" name="from" value="`)
		first, _, _ := strings.Cut(form, `"`)
		g := ada.submit(page, page+"/replay", map[string]string{"from": first, "to": first})
		if g.location != page+"?replayed="+first+"-"+first {
			w.t.Fatal(g.location)
		}
		ada.says(g.location, "Events "+first+" to "+first+" are sent again")
		// Of a range that ends after the newest event only the events that exist are sent, and the page says so.
		if g := ada.submit(page, page+"/replay", map[string]string{"from": first, "to": "999999999"}); strings.HasSuffix(g.location, "-999999999") || !strings.HasPrefix(g.location, page+"?replayed="+first+"-") {
			w.t.Error(g.location)
		}
		ada.lacks(page+"?replayed=%3Cb%3E", "are sent again")
		// A refusal of the API stands at its field, with the focus on the summary.
		refused := ada.send("/app/developers/webhooks", ada.form("/app/developers/webhooks", map[string]string{"url": "https://a:b@example.com/"}))
		if refused.status != http.StatusUnprocessableEntity || !strings.Contains(refused.text, `id="problem" autofocus`) || !strings.Contains(refused.text, `aria-invalid="true" aria-errormessage="why-url"`) {
			t.Errorf("%d %s", refused.status, refused.text)
		}
	})
}

// The sign-in page knows the company that has signed in last. A made-up cookie is not shown.
func TestTheSignInPageRemembersTheCompany(t *testing.T) {
	w := open(t)
	token, digest := who.NewLink()
	if _, err := w.app.People.InvitePerson(t.Context(), operator.Local("test"), w.company.Reference, "ada", who.Owner, digest); err != nil {
		t.Fatal(err)
	}
	p := &person{world: w, name: "ada"}
	link := "/app/link/" + w.company.Reference + "/" + token.Reveal()
	remembered := ""
	for _, c := range (&http.Response{Header: p.submit(link, link, nil).header}).Cookies() {
		if c.Name == "kobo_company" {
			remembered = c.Value
		}
	}
	if remembered != w.company.Reference {
		t.Fatalf("the cookie has %q", remembered)
	}
	for cookie, want := range map[string]bool{remembered: true, "x": false} {
		p.cookie = "kobo_company=" + cookie
		if text := p.read("/app/sign-in"); strings.Contains(text, `value="`+cookie+`"`) != want {
			t.Errorf("%q: %s", cookie, text)
		}
	}
}

// A file with personal data of all companies needs the role finance or admin. The pages of the other roles lead to no such file, and say
// who can have it. Files with sums only are for every operator.
func TestOnlyFinanceAndAdminsExportPersonalData(t *testing.T) {
	each(t, func(w *world) {
		files := []string{"/console/payments.csv", "/console/payments.xlsx", "/console/system/audit.csv"}
		for _, role := range []operator.Role{operator.Viewer, operator.Support} {
			p := w.add("no-"+string(role), role)
			for _, file := range files {
				g := p.get(file)
				if g.status != http.StatusForbidden || g.header.Get("Content-Disposition") != "" || !strings.Contains(g.text, "This needs the role finance or admin, and no-"+string(role)+" has the role "+string(role)) {
					w.t.Errorf("%s as %s: %d, %s", file, role, g.status, g.text)
				}
			}
			for _, page := range []string{"/console/payments", "/console/system/audit"} {
				p.says(page, "Operators in the roles finance and admin can download it.")
				p.lacks(page, ".csv", ".xlsx")
			}
			for _, file := range []string{"/console/money/revenue.csv", "/console/money/days.csv"} {
				if g := p.get(file); g.status != http.StatusOK {
					w.t.Errorf("%s as %s: %d", file, role, g.status)
				}
			}
		}
		if n, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT count(*) FROM operator_audit WHERE action IN ('read.exportPayments', 'read.exportAudit')`); err != nil || n != 0 {
			w.t.Errorf("%d exports, %v", n, err)
		}
		for _, p := range []*person{w.add("fay", operator.Finance), w.signIn("dev")} {
			for _, file := range files {
				if g := p.get(file); g.status != http.StatusOK || !strings.HasPrefix(g.header.Get("Content-Disposition"), "attachment") {
					w.t.Errorf("%s as %s: %d, %s", file, p.name, g.status, g.text)
				}
			}
			p.says("/console/payments", "/console/payments.csv", "/console/payments.xlsx")
			p.says("/console/system/audit", "/console/system/audit.csv")
			p.lacks("/console/payments", "can download it.")
		}
	})
}
