package api_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// A purchase whose money the biller has returned answers its key like a failed one: refused, and refunded. A dry run says so too.
func TestAReversedPurchaseIsNoSuccess(t *testing.T) {
	w := newWorld(t)
	s := w.shop(t)
	status, text, _ := s.buy(t, "order-1", "header-1")
	if status != 200 {
		t.Fatal(status, text)
	}
	id := field(t, text, "data", "transactionId")
	back := provider.Answer{Outcome: provider.Rejected, Reversed: true, Code: "040"}
	if _, err := w.VTU.Operations.Notified(t.Context(), w.reference, id, back); err != nil {
		t.Fatal(err)
	}
	const refused = "Data purchase failed. Your balance has been refunded."
	if status, text, _ := s.buy(t, "order-1", ""); status != 400 || field(t, text, "message") != refused || field(t, text, "data", "transactionId") != id {
		t.Errorf("the same key: %d %s", status, text)
	}
	if status, text, replayed := s.buy(t, "order-1", "header-1"); status != 200 || !replayed {
		t.Errorf("the same header has the first answer: %d %s", status, text)
	}
	answer, text := send(t, "POST", s.url+"/api/v1/vtu/purchase-data?dry_run=true",
		`{"idempotencyKey":"order-1","serviceCategoryId":"`+s.category+`","productId":"`+s.product+`","phoneNumber":"08012345678","settlementId":`+s.settlement+`}`,
		"Authorization", "Bearer "+s.access, "Content-Type", "application/json")
	if answer.StatusCode != 200 || answer.Header.Get("Kobo-Reason") != "declined" || !strings.Contains(text, "by a purchase that failed: use another one") {
		t.Errorf("a dry run: %d %s %s", answer.StatusCode, answer.Header, text)
	}
}
