package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// The page of a payout leads to the other ones of the same amount to the same account, at both sides. The company is warned
// only of one whose money is not back, and reads to which bulk payout the payout belongs.
func TestAPayoutLeadsToThoseOfTheSameAmount(t *testing.T) {
	each(t, func(w *world) {
		bola, dev := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev")
		first, second, other := bola.sends("0123456710", "100").location, bola.sends("0123456710", "100").location, bola.sends("0123456710", "99").location
		const warning, heading = "The same amount went to the same account within 7 days", "Same amount to the same account, within 7 days"
		for from, to := range map[string]string{first: second, second: first} {
			bola.says(from, warning, `href="`+to+`"`)
			dev.says(strings.Replace(from, "/app/", "/console/", 1), heading, "Ask the company", `href="`+strings.Replace(to, "/app/", "/console/", 1)+`"`)
		}
		bola.lacks(other, "within 7 days", "of a bulk payout")
		dev.lacks(strings.Replace(other, "/app/", "/console/", 1), "within 7 days")

		refused, again := bola.sends("0123456701", "100").location, bola.sends("0123456701", "100").location
		bola.lacks(refused, warning)
		bola.says(refused, heading, `href="`+again+`"`, "Failed, refunded")
		dev.lacks(strings.Replace(refused, "/app/", "/console/", 1), "Ask the company")

		w.plant(`INSERT INTO payout_bulk (company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at, send_until, ended_at)
			VALUES ($1, 'b1', 'CONFIRMED', 1, 'bank', 1, 1000000, 9000000, 2000000, 3000000, 9000000, 0)`, w.company.Reference)
		w.plant(`INSERT INTO payout_bulk_line (company_id, bulk_id, line, verdict, reference, bank_code, account_number, amount_kobo, narration, external_reference, metadata, bank_name, account_name, session, named_at, attempts, reason)
			VALUES ($1, 'b1', 3, 'GOOD', $2, '', '', 100, '', '', '', '', '', '', 0, 0, '')`, w.company.Reference, strings.TrimPrefix(other, "/app/p/"))
		if text := html.UnescapeString(bola.read(other)); !strings.Contains(text, `<a href="/app/payouts/bulk/b1">Line 3 of a bulk payout</a>`) {
			t.Error(text)
		}
	})
}

// The account number that a payout pays is masked. The role support sees it for a reason, which is in the audit log without the
// number. Nobody else sees it by that address, and a viewer has no form.
func TestSupportRevealsTheAccountOfAPayout(t *testing.T) {
	each(t, func(w *world) {
		const number = "0123456710"
		at := "/console/p/" + strings.TrimPrefix(w.seat(w.company.Reference, "bola", who.Finance).sends(number, "100").location, "/app/p/")
		sam, vera := w.add("sam", operator.Support), w.add("vera", operator.Viewer)
		sam.says(at, "******6710", "Show the whole account number")
		sam.lacks(at, number)
		vera.lacks(at, number, "Show the whole account number")
		if g := vera.send(at+"/account", vera.form(at, map[string]string{"reason": "INVESTIGATION"})); g.status != http.StatusForbidden || strings.Contains(g.text, number) {
			t.Errorf("a viewer reveals: %d", g.status)
		}
		if g := sam.send(at+"/account", sam.form(at, map[string]string{"reason": "OTHER"})); g.status != http.StatusUnprocessableEntity || strings.Contains(g.text, number) {
			t.Errorf("without words: %d", g.status)
		}
		seen := sam.submit(at, at+"/account", map[string]string{"reason": "BANK_QUESTION"}).location
		sam.says(seen, number, "The audit log has this reveal")
		vera.lacks(seen, number)
		lines, _, err := w.app.Operators.SearchAudit(t.Context(), operator.AuditFilter{Action: operator.RevealedBeneficiary}, 10, 0)
		if err != nil || len(lines) != 1 || lines[0].Operator != "sam" || "/console/p/"+lines[0].Subject != at || lines[0].Details["reason"] != "BANK_QUESTION" {
			t.Errorf("%+v %v", lines, err)
		}
		for _, l := range lines {
			for _, value := range l.Details {
				if strings.Contains(value, number) {
					t.Error("the audit log has the number")
				}
			}
		}
	})
}
