package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/app"
	who "github.com/kobo-waas/kobo/internal/person"
)

// limited are limits of requests. A company may send one at once, and one a second.
func limited(visits int) func(*app.Config) {
	return func(c *app.Config) {
		c.Limits = app.Defaults().Limits
		c.Limits.CompanyPerSecond, c.Limits.CompanyBurst, c.Limits.PersonPerSecond, c.Limits.PersonBurst = 1, 1, visits, visits
	}
}

// Neither a page nor an export takes anything of the limit of the company's programs. So a person reads, exports and pays while the
// programs of the company are at their limit.
func TestPeoplePayWhileTheirCompanyIsAtItsLimit(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN}).location
		bola.says(bola.submit(draft, draft, nil).location, "Paid")
		for range 3 {
			bola.says("/app/home", "₦999,900.00")
			if rows := bola.rowsOf("/app/payouts.csv"); len(rows) != 1 {
				t.Errorf("%v", rows)
			}
		}
	}, limited(10_000))
}

// A person has a limit of visits. It is nobody else's: neither of another person of the company, nor of an operator.
func TestAPersonHasALimitOfVisits(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		ada, dev := w.seat(w.company.Reference, "ada", who.Owner), w.signIn("dev")
		refused := page{}
		for n := 0; n < 100 && refused.status != http.StatusTooManyRequests; n++ {
			refused = bola.get("/app/me")
			dev.read("/console/me")
		}
		if refused.status != http.StatusTooManyRequests || refused.header.Get("Retry-After") != "1" || !strings.Contains(refused.text, "very many pages") {
			t.Errorf("%d %v: %s", refused.status, refused.header, refused.text)
		}
		ada.read("/app/me")
		dev.read("/console/me")
	}, limited(1))
}
