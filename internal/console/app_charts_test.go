package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
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
				t.Fatalf("%s leads to no day: %s", page, text)
			}
			g := vera.get(html.UnescapeString(day[1]))
			if g.status != http.StatusOK || strings.Count(g.text, "<tr data-row>") != 2 {
				t.Errorf("%s: %d, %d entries", day[1], g.status, strings.Count(g.text, "<tr data-row>"))
			}
			vera.lacks(page, "still added up")
		}
	})
}
