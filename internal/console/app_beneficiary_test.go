package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// keeps keeps the account of a payout or of a review.
func (p *person) keeps(verification, label string) page {
	p.t.Helper()
	return p.send("/app/payouts/kept", p.form("/app/payouts/kept", map[string]string{"verification": verification, "label": label}))
}

// paidTo returns a column of the account that a payout pays.
func (w *world) paidTo(column, reference string) string {
	w.t.Helper()
	code, err := db.One(w.t.Context(), w.app.DB, db.Value[string], `SELECT `+column+` FROM payout_verification WHERE company_id = $1 AND id = $2`, w.company.Reference, reference)
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

// lines returns the number of lines of an act in the audit log. None of them has a whole account number.
func (w *world) lines(act string) int {
	w.t.Helper()
	lines, _, err := w.app.Operators.SearchAudit(w.t.Context(), operator.AuditFilter{Action: act}, 10, 0)
	if err != nil || strings.Contains(fmt.Sprint(lines), "0123456710") {
		w.t.Fatal(lines, err)
	}
	return len(lines)
}

// A company keeps the account of a payout with the name that the bank has said. The next payout chooses it, and asks the bank again.
func TestACompanyKeepsAccounts(t *testing.T) {
	each(t, func(w *world) {
		bola, vera := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer)
		eve := w.seat(w.another(), "eve", who.Owner)
		paid := w.payout("0123456710", 100)
		const list, account = "/app/payouts/kept", "0123456710"
		bank, name := w.paidTo("bank_code", paid), w.paidTo("account_name", paid)
		kept := bank + "/" + account
		bola.says("/app/p/"+paid, "Keep this account")
		// A refused name stands in its form again, on the page of the form. A review keeps its sums and its button.
		refused := func(at string, wants ...string) {
			long := strings.Repeat("n", 61)
			verification := found(t, regexp.MustCompile(`name="verification" value="([^"]+)"`), bola.read(at))
			g := bola.send(list, bola.form(at, map[string]string{"verification": verification, "label": long, "to": at}))
			holds(t, g, append(wants, "at most 60 characters", `value="`+long+`"`, "<details open>", `data-page="`+at+`"`)...)
		}
		refused("/app/p/"+paid, "What happened")
		vera.lacks("/app/p/"+paid, "Keep this account")
		if g := bola.keeps(paid, "Rent of <Ikeja>, 0803 987 6543"); g.status != http.StatusSeeOther || g.location != list {
			w.t.Fatalf("%d, %s", g.status, g.text)
		}
		bola.says(list, "Rent of <Ikeja>", name, account)
		bola.lacks("/app/p/"+paid, "Keep this account")
		bola.says(list+"?after=LTEvYQ", "Kept accounts", "There is nothing older.")
		vera.says(list, name, "******6710", "Rent of <Ikeja>, *********6543")
		vera.lacks(list, account, "987 6543", "/app/payouts/kept/remove")
		eve.lacks(list, name, "6710")
		eve.lacks("/app/payouts/new", name, "6710")
		vera.lacks("/app/payouts/new", name, "6710")
		bola.says("/app/payouts/new", `value="`+kept+`"`, "Rent of <Ikeja>, 0803 987 6543: "+name)

		// The payout to a kept account asks the bank for the name, and takes the PIN, as each one does.
		fields := map[string]string{"kept": kept, "amount": "250", "fromSettlementId": "1", "pin": w.company.PIN, "narration": "Rent of May", "externalReference": "rent-05"}
		review := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		bola.says(review, name, account, w.paidTo("bank_name", paid), "Rent of May", "rent-05", "Send ₦250.00")
		bola.lacks(review, "Keep this account", "The bank now has another name")
		w.plant(`UPDATE payout_beneficiary SET account_name = 'OTHER NAME' WHERE company_id = $1`, w.company.Reference)
		renamed := bola.submit("/app/payouts/new", "/app/payouts/check", fields).location
		bola.says(renamed, name, "The bank now has another name", "It was OTHER NAME")
		with := func(field, content string) url.Values {
			some := maps.Clone(fields)
			some[field] = content
			return bola.form("/app/payouts/new", some)
		}
		theirs := eve.form("/app/payouts/new", fields)
		for what, g := range map[string]page{
			"a wrong PIN":           bola.send("/app/payouts/check", with("pin", "0000")),
			"both":                  bola.send("/app/payouts/check", with("account_number", "0123456711")),
			"not kept":              bola.send("/app/payouts/check", with("kept", bank+"/0123456711")),
			"of another company":    eve.send("/app/payouts/check", theirs),
			"kept twice":            bola.keeps(paid, "Again"),
			"a long name":           bola.keeps(paid, strings.Repeat("n", 61)),
			"two lines":             bola.keeps(paid, "a\nb"),
			"no answer of a bank":   bola.keeps("0190a3f0-0000-7000-8000-000000000000", ""),
			"another's answer":      eve.keeps(paid, ""),
			"by a viewer":           vera.keeps(paid, ""),
			"removed by a viewer":   vera.send(list+"/remove", vera.form(list, map[string]string{"kept": kept})),
			"removed by another":    eve.send(list+"/remove", eve.form(list, map[string]string{"kept": kept})),
			"removed and not there": bola.send(list+"/remove", bola.form(list, map[string]string{"kept": bank + "/0123456711"})),
		} {
			if g.status < http.StatusBadRequest || g.status >= http.StatusInternalServerError || strings.Contains(g.text, `name="pin" value`) {
				t.Errorf("%s: %d to %q", what, g.status, g.location)
			}
		}
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{"bank_code": bank, "account_number": "0123456708", "amount": "250", "fromSettlementId": "1", "pin": w.company.PIN}).location
		bola.says(draft, "Keep this account")
		refused(draft, "Leaves the account", `action="`+draft+`"`, "Send ₦250.00")
		if n := w.lines("beneficiary.keep"); n != 1 {
			t.Errorf("%d lines in the audit log", n)
		}
		bola.submit(list, list+"/remove", map[string]string{"kept": kept})
		bola.lacks(list, "OTHER NAME", account)
		if n := w.lines("beneficiary.forget"); n != 1 {
			t.Errorf("%d lines in the audit log", n)
		}
	})
}
