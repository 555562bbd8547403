package console_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	who "github.com/kobo-waas/kobo/internal/person"
)

// A payout was refunded, and the bank says later that it paid it. No page says any more that it was not paid, no form offers the line
// again, and the same payout once more is a double. When operators have decided, nothing is certain yet, because their decision moves
// no money.
func TestARefundThatTheBankContradictsIsInDoubt(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		bola, dev, second := w.seat(w.company.Reference, "bola", who.Finance), w.signIn("dev"), w.signIn("dev2")
		bulk := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456701,100\n000013,0123456701,300",
		}).location
		arrives := func(path, want string) {
			later(t, func() string {
				if text := html.UnescapeString(bola.read(path)); !strings.Contains(text, want) {
					return text
				}
				return ""
			})
		}
		arrives(bulk, "Waits for you")
		bola.submit(bulk, bulk+"/send", map[string]string{"pin": w.company.PIN})
		arrives(bulk, "Completed, 2 failed and refunded")
		reference, err := db.One(t.Context(), w.app.DB, db.Value[string], `SELECT id FROM operation WHERE company_id = $1 AND state = 'FAILED' AND amount_kobo = 10000`, w.company.Reference)
		if err != nil {
			t.Fatal(err)
		}
		own, theirs := "/app/p/"+reference, "/console/p/"+reference
		bola.says(own, "It was not carried out.", "none: the bank did not carry it out", "The bank refused it.")
		dev.says(theirs, "none: the bank did not carry it out")
		bola.says("/app/home", "Nothing needs anybody.")
		draft := func() string {
			return bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
				"bank_code": "000013", "account_number": "0123456701", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN,
			}).location
		}
		bola.lacks(draft(), "A payout of the same amount to the same account is in the last 7 days")

		at := w.caseAbout(w.company.Reference, reference, operation.Contradiction)
		untrue := []string{"It was not carried out.", "not carry it out", "refused it", ">Failed, refunded<"}
		bola.says(own, "Refunded, in doubt", "The money is back in your account", "so it may have been paid too.", "Do not pay again.", "none known: the outcome is in doubt", "Please do not send it again.")
		bola.lacks(own, append(untrue, "Paid by")...)
		for _, path := range []string{theirs, at} {
			dev.says(path, "so it may have been paid too.")
			dev.lacks(path, "refused it.”", "Paid by Safe Haven")
		}
		dev.says(theirs, "Refunded, in doubt", "Please do not send it again.")
		bola.says("/app/home", "Refunded, in doubt", own, "Do not pay again.")
		bola.lacks("/app/home", "Nothing needs anybody.")
		for _, list := range []string{"/app/payouts", "/console/payments", bulk + "?show=failed"} {
			p := bola
			if strings.HasPrefix(list, "/console") {
				p = dev
			}
			p.says(list, "Refunded, in doubt")
		}
		for _, file := range []string{"/app/payouts.csv", "/app/payouts.csv?status=FAILED", "/console/payments.csv"} {
			p := bola
			if strings.HasPrefix(file, "/console") {
				p = dev
			}
			if text := p.get(file).text; strings.Count(text, "Refunded, in doubt") != 1 || strings.Count(text, "Failed, refunded") != 1 {
				t.Errorf("%s: %s", file, text)
			}
		}
		again := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(bola.read(bulk))
		if len(again) == 0 || again[1] != "000013,0123456701,300.00" {
			t.Errorf("repeats %q", again)
		}
		bola.says(bulk, "Of these in doubt</dt><dd>1<")
		bola.says(own, "What the bank said first")
		bola.lacks(own, "Why it failed")
		bola.says(draft(), "A payout of the same amount to the same account is in the last 7 days", own, "The outcome of that payout is in doubt")

		fields := map[string]string{"outcome": "dismissed", "note": "We speak with the company."}
		look := dev.submit(at, at, fields).location
		fields["sure"] = "yes"
		dev.submit(look, at, fields)
		second.submit(at, at+"/agreed", map[string]string{"outcome": "dismissed", "note": fields["note"]})
		bola.says(own, "Refunded, in doubt", "Kobo's operators have decided about it. Ask them before you pay again.", "Please ask us before you send it again.")
		bola.lacks(own, untrue...)
		bola.says("/app/home", "Nothing needs anybody.")
		bola.says(draft(), "A payout of the same amount to the same account is in the last 7 days")
	})
}

// A payment that succeeded is in doubt while a case says that it came back, or never left.
func TestASuccessThatTheBankContradictsIsInDoubt(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		own := "/app/p/" + w.payout("0123456710", 400)
		bola.lacks(own, "in doubt")
		w.caseAbout(w.company.Reference, strings.TrimPrefix(own, "/app/p/"), operation.NotOnStatement)
		bola.says(own, "Paid, in doubt", "Confirmed by the bank", "The bank has also said that it was not paid, or that the money came back.", "Please do not send it again.")
		bola.says("/app/home", "Paid, in doubt", own)
	})
}
