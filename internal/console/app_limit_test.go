package console_test

import (
	"html"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	who "github.com/kobo-waas/kobo/internal/person"
)

// The review of a payout and a checked bulk payout say what is left of today's limit, before anything is sent. The smaller
// rest counts, of the company or of the account.
func TestALimitIsSeenBeforeMoneyIsSent(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		bola.says(bola.checks("0123456710", "40"), "Paid from", "<dt>Left of today's limit</dt><dd>no limit</dd>")
		for account, amount := range map[int64]money.Kobo{0: 1_000_00, 1: 900_00} {
			if err := w.app.Payouts.SetLimit(t.Context(), operator.Local("test"), w.company.Reference, account, payout.Limit{Amount: amount}); err != nil {
				w.t.Fatal(err)
			}
		}
		bola.sends("0123456710", "40")
		bola.says(bola.checks("0123456711", "40"), "<dt>Left of today's limit</dt><dd>₦860.00</dd>")
		at := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100",
		}).location
		later(t, func() string {
			if text := html.UnescapeString(bola.read(at)); !strings.Contains(text, "<dt>Left of today's limit</dt><dd>₦860.00</dd>") {
				return text
			}
			return ""
		})
	})
}
