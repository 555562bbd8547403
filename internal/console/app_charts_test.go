package console_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// The home page and the ledger of an account say what came in and went out today, and each day leads to its entries.
func TestAPersonSeesWhatMovedPerDay(t *testing.T) {
	each(t, func(w *world) {
		w.costs(1_050)
		w.payout("0123456710", 1_500)
		vera := w.seat(w.company.Reference, "vera", who.Viewer)
		for _, page := range []string{"/app/home", "/app/money/ledger?settlementId=1"} {
			text := vera.says(page, "In and out per day, Main account: ₦1,000,000.00 in and ₦1,510.50 out today", `data-value="-1510.50"`, `data-value="1000000.00"`)
			day := regexp.MustCompile(`href="(/app/money/ledger\?[^"]*from=[^"]+)"`).FindStringSubmatch(text)
			if day == nil {
				w.t.Fatalf("%s leads to no day: %s", page, text)
			}
			g := vera.get(html.UnescapeString(day[1]))
			if g.status != http.StatusOK || strings.Count(g.text, "<tr data-row>") != 2 {
				t.Errorf("%s: %d, %d entries", day[1], g.status, strings.Count(g.text, "<tr data-row>"))
			}
			vera.lacks(page, "still added up")
		}
	})
}

// The page of a webhook, and that of operators, say how many attempts of the last 24 hours were not accepted.
func TestAWebhookShowsItsDeliveriesPerHour(t *testing.T) {
	each(t, func(w *world) {
		endpoint := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) { to.WriteHeader(http.StatusInternalServerError) }))
		t.Cleanup(endpoint.Close)
		one, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		vera, dev := w.seat(w.company.Reference, "vera", who.Viewer), w.signIn("dev")
		page, operators := "/app/developers/webhooks/"+one.ID, "/console/companies/"+w.company.Reference+"/webhooks"
		for _, text := range []string{vera.says(page, "none in 24 hours", "Nothing was answered."), dev.says(operators, "none in 24 hours", "Nothing was answered.")} {
			if strings.Count(text, `data-value="0"`) < 24*5 {
				t.Errorf("the chart lacks hours: %s", text)
			}
		}
		w.ask("POST", "companies/"+w.company.Reference+"/payout-limits", `{"amount":5000,"payouts":3}`, nil)
		if err := w.app.Webhooks.Settled(t.Context()); err != nil {
			w.t.Fatal(err)
		}
		vera.says(page, "Deliveries per hour: 1 attempt in 24 hours, 1 without a 2xx answer", "95 of 100 answers came within ", `data-value="1"`)
		dev.says(operators, "Deliveries per hour: 1 attempt in 24 hours, 1 without a 2xx answer", "95 of 100 answers came within ", `data-value="1"`)
	})
}
