package console_test

import (
	"fmt"
	"html"
	"regexp"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// The page of a customer pages through all credits of this customer, the newest first, and through no others.
func TestACustomersPageHasAllCreditsOfTheCustomer(t *testing.T) {
	each(t, func(w *world) {
		w.plantCustomer()
		for number := range 130 { // two of three are of the customer: 87
			owner := "c1"
			if number%3 == 2 {
				owner = "c2"
			}
			w.plant(`INSERT INTO customer_transaction (company_id, number, id, customer_id, settlement_id, amount_kobo, kind, status, narration, session_id, created_at)
				VALUES ($1, $2, $3, $4, 1, 10000, 'CREDIT', 'SUCCESS', '', '', $5)`,
				w.company.Reference, int64(number+1), fmt.Sprintf("%s-%d", owner, number+1), owner, int64(1_900_000_000_000_000+number))
		}
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		row, older := regexp.MustCompile(`href="/app/p/(c\d-\d+)"`), regexp.MustCompile(`href="([^"]+)" rel="next"`)
		seen, pages := []string{}, 0
		for at := "/app/customers/c1"; at != ""; pages++ {
			text := ada.read(at)
			for _, found := range row.FindAllStringSubmatch(text, -1) {
				seen = append(seen, found[1])
			}
			at = ""
			if found := older.FindStringSubmatch(text); found != nil {
				at = html.UnescapeString(found[1])
			}
		}
		if len(seen) != 87 || pages != 2 || seen[0] != "c1-130" || seen[86] != "c1-1" {
			t.Fatalf("%d credits on %d pages: %v", len(seen), pages, seen)
		}
		for _, one := range seen {
			if one[:2] != "c1" {
				t.Errorf("the page has the credit %s", one)
			}
		}
	})
}
