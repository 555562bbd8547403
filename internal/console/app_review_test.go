package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// A review whose payout was sent, in another tab or before Back, says so and leads to the payment. It has no button that sends.
// A second payout of the same amount to the same account is named before it is sent.
func TestASentReviewInvitesNoSecondPayout(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		review := func(amount string) string {
			return bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
				"bank_code": "000013", "account_number": "0123456710", "amount": amount, "fromSettlementId": "1", "pin": w.company.PIN,
			}).location
		}
		first := review("1500.50")
		if text := html.UnescapeString(bola.read(first)); strings.Contains(text, "last 7 days") || !strings.Contains(text, "Send ₦1,500.50") {
			w.t.Fatal(text)
		}
		tab, other := bola.form(first, nil), bola.form(first, nil)
		paid := bola.send(first, tab)
		if !strings.HasPrefix(paid.location, "/app/p/") {
			w.t.Fatalf("%d to %q", paid.status, paid.location)
		}
		for what, g := range map[string]page{"Back": bola.get(first), "the second tab": bola.get(bola.send(first, other).location)} {
			text := html.UnescapeString(g.text)
			if g.status != http.StatusOK || !strings.Contains(text, "Already sent") || !strings.Contains(text, paid.location) || strings.Contains(text, "Send ₦") || strings.Contains(text, "Nothing was changed") {
				t.Errorf("%s: %d, %s", what, g.status, text)
			}
		}
		if w.paid() != 1 {
			w.t.Fatalf("%d payouts", w.paid())
		}
		if text := html.UnescapeString(bola.read(review("1500.50"))); !strings.Contains(text, "A payout of the same amount to the same account is in the last 7 days") || !strings.Contains(text, paid.location) || !strings.Contains(text, "Send ₦1,500.50") {
			t.Error(text)
		}
		if text := bola.read(review("1500.49")); strings.Contains(text, "last 7 days") {
			t.Error("another amount is no double")
		}
	})
}

// The person who asked for a bulk payout reads for whom it waits, and has no button that asks again. The second person
// reads how many lines may be paid twice, and how many are left out.
func TestABulkPayoutSaysForWhomItWaits(t *testing.T) {
	each(t, func(w *world) {
		ada, fola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "fola", who.Finance)
		if g := ada.require("150"); g.location != "/app/approvals" {
			w.t.Fatal(g.text)
		}
		at := fola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100\n000013,0123456710,100\n000013,0123456799,20",
		}).location
		later(t, func() string {
			if text := fola.read(at); !strings.Contains(text, "Ask a second person") {
				return text
			}
			return ""
		})
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		fola.says("/app/payouts/bulk", "Waits for you")
		for _, path := range []string{"/app/payouts/bulk", at} {
			vera.says(path, "Waiting for approval</span>")
			vera.lacks(path, "Waits for you")
		}
		waits := fola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN}).approval(t)
		text := html.UnescapeString(fola.read(at))
		if !strings.Contains(text, "It waits for an owner or a person in the role finance other than you") || strings.Contains(text, "Waits for you") || strings.Contains(text, "Ask a second person") {
			t.Errorf("who asked reads: %s", text)
		}
		if text := html.UnescapeString(ada.read(at)); !strings.Contains(text, "It waits for you") {
			t.Errorf("the second person reads: %s", text)
		}
		fola.says("/app/payouts/bulk", "Waiting for approval")
		fola.lacks("/app/payouts/bulk", "Waits for you")
		ada.says("/app/payouts/bulk", "Waits for you")
		ada.lacks("/app/payouts/bulk", "Waiting for approval")
		text = html.UnescapeString(ada.read(waits))
		if !strings.Contains(text, "?show=doubles\">1 line</a>") || !strings.Contains(text, "?show=bad\">1 bad line</a>") {
			t.Errorf("the approval does not name doubles and lines left out: %s", text)
		}
	})
}

// A payment before the end of its first call is not called unknown, and a list says the same as the page of the payment.
func TestAnUnknownPayoutIsDrawnTheSameEverywhere(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		lost := bola.sends("0123456705", "100").location
		for _, path := range []string{lost, "/app/payouts"} {
			if text := bola.read(path); !strings.Contains(text, "Unknown for ") || strings.Contains(text, "Accepted") || strings.Contains(text, ">Not known yet</span>") || strings.Contains(text, "PENDING, ") {
				t.Errorf("%s: %s", path, text)
			}
		}
		bola.says(lost, "Where the ₦100.00 is", "The bank has not confirmed yet. Your money is safe. We ask again at ", "Please do not send it again.", "Settlement account 1")
		bola.lacks(lost, "Belongs to", "by Safe Haven")
		// The bank has answered that it carries the payout out, so it is not unknown what the bank does.
		accepted := bola.sends("0123456708", "200").location
		bola.says(accepted, "Accepted", "The provider has accepted it and has not finished", "Do not pay again", "72 h")
		bola.says("/app/payouts", "Accepted, next ")
		bola.says("/app/home", "Accepted", "The provider has accepted it and has not finished", "We do not know yet whether it was carried out")
		at := bola.counter("Airtime")
		sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234505", "amount": "50"}).location
		bola.submit(sale, sale, nil)
		bola.says("/app/services/purchases", "Unknown for ", ", next ")
		bola.says(bola.send(sale, bola.form(sale, nil)).location, "The vendor has not confirmed yet. Your money is safe.")
		bola.lacks("/app/services/purchases", "Not known yet")
	})
}
