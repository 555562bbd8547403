package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// beforeDays matches the name of a file before its days.
var beforeDays = regexp.MustCompile(`^.*?(?:-all-to|-20|$)`)

// taken returns the lines of the audit log about the files of an act, the oldest first: who, the file, and the filters.
func (w *world) taken(f operator.AuditFilter) (out []string) {
	w.t.Helper()
	lines, _, err := w.app.Operators.SearchAudit(w.t.Context(), f, 100, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range slices.Backward(lines) {
		file := beforeDays.FindString(l.Details["file"])
		out = append(out, l.Operator+" "+file+"."+l.Details["format"]+" "+l.Details["filters"])
	}
	return out
}

// Each file that a person of a company takes is a line of the audit log, also the same one a minute later. A refused file is none. An owner sees
// them, and nobody reads in the log what somebody looked for.
func TestEachFileThatAPersonTakesIsALine(t *testing.T) {
	each(t, func(w *world) {
		ada, bola, vera := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		paid := w.payout("0123456710", 100)
		bulk := bola.checkedLines()
		statement := "/app/money/statement?" + url.Values{"settlementId": {"1"}, "format": {"csv"}}.Encode()
		files := []string{
			"/app/payouts.csv?status=SUCCESS", "/app/payouts.csv?status=SUCCESS", "/app/payouts.xlsx?externalReference=ngozi%40example.com", "/app/money.csv", "/app/money.xlsx?period=all",
			"/app/services/purchases.csv", "/app/services/purchases.xlsx", statement, bulk + "/bad.csv", "/app/p/" + paid + "/proof.pdf",
		}
		for _, file := range append(files, "/app/payouts.csv?status=NO") {
			if g := vera.get(file); g.status < http.StatusBadRequest {
				w.t.Errorf("%s as a viewer: %d", file, g.status)
			}
		}
		for _, refused := range []string{"/app/payouts.csv?status=NO", "/app/money/statement?settlementId=99&format=csv", "/app/p/none/proof.pdf"} {
			if g := bola.get(refused); g.status < http.StatusBadRequest {
				w.t.Errorf("%s: %d", refused, g.status)
			}
		}
		of := operator.AuditFilter{Company: w.company.Reference, Action: "person.export"}
		if got := w.taken(of); len(got) > 0 {
			w.t.Errorf("refused files: %q", got)
		}
		for _, file := range files {
			bola.read(file)
		}
		by := "person:" + w.company.Reference + "/bola "
		got := w.taken(of)
		want := []string{
			by + "payouts-20.csv status=SUCCESS", by + "payouts-20.csv status=SUCCESS", by + "payouts-all-to.xlsx externalReference=", by + "credits-20.csv ", by + "credits-all-to.xlsx period=all",
			by + "purchases-20.csv ", by + "purchases-20.xlsx ", by + "statement.csv settlementId=1", by + "bad-lines.csv bulk=" + strings.TrimPrefix(bulk, "/app/payouts/bulk/"), by + "proof-of-payment-" + paid + ".pdf ",
		}
		if !slices.EqualFunc(got, want, func(g, w string) bool {
			return g == w || strings.HasSuffix(w, "externalReference=") && strings.HasPrefix(g, w)
		}) {
			w.t.Errorf("%q, want %q", got, want)
		}
		if text := strings.Join(got, "\n"); strings.Contains(text, "ngozi") || !strings.Contains(text, "%24") {
			w.t.Errorf("the filters have a text: %s", text)
		}
		const people = "/app/settings/people"
		ada.says(people, "Files that people have taken", "bola", "bad-lines, csv", "Status: success", "External reference: masked", "proof-of-payment-"+paid)
		for _, p := range []*person{bola, vera, w.seat(w.another(), "eve", who.Owner)} {
			p.lacks(people, "bad-lines", "Status: success")
		}
	})
}

// The same for operators, at the console and by the operators' API.
func TestEachFileThatAnOperatorTakesIsALine(t *testing.T) {
	each(t, func(w *world) {
		dev := w.signIn("dev")
		byKey := func(path string) {
			r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/admin/v1/"+path, nil)
			if err != nil {
				w.t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+w.company.AdminKey)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				w.t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				w.t.Errorf("%s: %d", path, answer.StatusCode)
			}
		}
		for range 2 {
			for _, file := range []string{"payments.csv?kind=payout&company=ngozi%40example.com", "system/audit.csv?action=door.close", "money/revenue.csv", "money/days.csv"} {
				dev.read("/console/" + file)
			}
			for _, file := range []string{"audit/export?action=door.close", "revenue/export", "bank-days/export"} {
				byKey(file)
			}
		}
		for act, want := range map[string]struct {
			lines   int
			file    string
			filters string
		}{
			"read.exportPayments": {2, "payments-20", "kind=payout&company="}, "read.exportAudit": {4, "audit-20", "action=door.close"},
			"read.exportRevenue": {4, "revenue-20", ""}, "read.exportBankDays": {4, "bank-days-20", ""},
		} {
			got := w.taken(operator.AuditFilter{Action: act})
			if len(got) != want.lines {
				w.t.Errorf("%s: %q", act, got)
			}
			for _, line := range got {
				if !strings.HasPrefix(line, "dev "+want.file+".csv "+want.filters) || strings.Contains(line, "ngozi") {
					w.t.Errorf("%s: %q", act, line)
				}
			}
		}
	})
}

// Without the line nobody gets a file.
func TestAFileWithoutALineIsNotSent(t *testing.T) {
	each(t, func(w *world) {
		dev, bola := w.signIn("dev"), w.seat(w.company.Reference, "bola", who.Finance)
		paid := w.payout("0123456710", 100)
		if _, err := w.app.DB.Exec(w.t.Context(), `ALTER TABLE operator_audit RENAME TO operator_audit_gone`); err != nil {
			w.t.Fatal(err)
		}
		for p, files := range map[*person][]string{
			bola: {"/app/payouts.csv", "/app/payouts.xlsx", "/app/p/" + paid + "/proof.pdf"}, dev: {"/console/payments.csv", "/console/money/revenue.csv", "/console/money/days.csv"},
		} {
			for _, file := range files {
				if g := p.get(file); g.status < http.StatusInternalServerError || g.header.Get("Content-Disposition") != "" || !strings.Contains(g.header.Get("Content-Type"), "html") {
					w.t.Errorf("%s: %d, %s", file, g.status, g.text)
				}
			}
		}
	})
}
