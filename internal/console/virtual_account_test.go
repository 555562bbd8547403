package console_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// toAccount matches the link from a credit to the virtual account on which it has arrived.
var toAccount = regexp.MustCompile(`href="/console/p/[^"]+">The virtual account `)

// A virtual account and the credit that pays it are one story, to which both ids lead: the request, the account, the money, the events and
// their deliveries. That a virtual account has expired, or was paid too late, is told as well.
func TestAVirtualAccountAndItsPaymentAreOneStory(t *testing.T) {
	each(t, func(w *world) {
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(endpoint.Close)
		if _, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil); err != nil {
			w.t.Fatal(err)
		}
		var token struct{ AccessToken string }
		w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
		generate := func(own string) (id, number string) {
			var made struct {
				Data struct {
					ID            string `json:"virtual_trx_id"`
					AccountNumber string
				}
			}
			w.asCompany("POST", "/api/v1/virtual-account/generate", token.AccessToken, map[string]any{"amount": 700, "externalReference": own}, &made)
			return made.Data.ID, made.Data.AccountNumber
		}
		pay := func(number, sender string) {
			w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": number, "amount": 700, "senderName": sender}, nil)
		}
		dev, ada := w.signIn("dev"), w.seat(w.company.Reference, "ada", who.Owner)

		paid, number := generate("order-1")
		dev.says("/console/p/"+paid, "₦700.00 to ", "Waiting for the payment")
		w.advance(3 * time.Minute)
		pay(number, "CHIDI PAYER")
		var credit string
		later(w.t, func() string {
			text := html.UnescapeString(dev.read("/console/p/" + paid))
			m := regexp.MustCompile(`href="/console/p/([^"]+)">The credit `).FindStringSubmatch(text)
			if m == nil || !strings.Contains(text, "delivered, 1 attempt") || !strings.Contains(text, "/api/v1/virtual-account/generate") {
				return text
			}
			credit = m[1]
			return ""
		})
		told := []string{
			"/api/v1/virtual-account/generate", "asked for the virtual account", "Money arrived", "₦700.00 moved", "virtual_account.success", "Delivery", "CHIDI PAYER", "order-1",
		}
		dev.says("/console/p/"+paid, append(told, "₦700.00 from CHIDI PAYER")...)
		dev.says("/console/p/"+credit, append(told, `href="/console/p/`+paid)...)
		ada.says("/app/p/"+paid, "₦700.00 to virtual account "+number, "order-1", "Until", "Money arrived", "virtual_account.success", "₦700.00 moved")
		ada.lacks("/app/p/"+paid, "/receipt")
		ada.says("/app/p/"+credit, "virtual_account.success", "/receipt")

		expired, number := generate("order-2")
		w.advance(24 * time.Hour)
		later(w.t, func() string {
			text := html.UnescapeString(dev.read("/console/p/" + expired))
			if !strings.Contains(text, "The virtual account has expired, and nobody has paid") || !strings.Contains(text, "virtual_account.failed") {
				return text
			}
			return ""
		})
		pay(number, "LATE PAYER")
		later(w.t, func() string {
			found := regexp.MustCompile(`href="(/console/p/[^"]+)"`).FindAllStringSubmatch(dev.read("/console/payments?kind=credit&period=all"), -1)
			for _, m := range found {
				text := html.UnescapeString(dev.read(m[1]))
				if strings.Contains(text, "LATE PAYER") && strings.Contains(text, "virtual_account.late_payment") && toAccount.MatchString(text) {
					return ""
				}
			}
			return "no late payment"
		})
	})
}
