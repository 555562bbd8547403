package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
)

// A repeated request gets the word of the first response. The stored response of an earlier release
// has no word, so its repetition gets the word "unstated".
func TestARepeatedRefusalHasItsWord(t *testing.T) {
	w := newWorld(t)
	s := w.shop(t)
	ask := func() string {
		answer, text := send(t, "POST", s.url+"/api/v1/settlement/validate-account",
			fmt.Sprintf(`{"bank_code":"000014","account_number":"0123456789","pin":"0000","fromSettlementId":%s}`, s.settlement),
			"Authorization", "Bearer "+s.access, "Content-Type", "application/json", "Idempotency-Key", "wrong-pin")
		if answer.StatusCode != http.StatusBadRequest || text != `{"error":" failed: Invalid PIN"}`+"\n" {
			t.Errorf("%d %s", answer.StatusCode, text)
		}
		return answer.Header.Get("Idempotent-Replayed") + " " + answer.Header.Get("Kobo-Reason")
	}
	if first, second := ask(), ask(); first != " pin_invalid" || second != "true pin_invalid" {
		t.Errorf("%q, then %q", first, second)
	}
	if _, err := w.db.Exec(t.Context(), `UPDATE idempotency_key SET reason = '' WHERE company_id = $1`, w.reference); err != nil {
		t.Fatal(err)
	}
	if old := ask(); old != "true unstated" {
		t.Error(old)
	}
}

// The stored 200 response of a purchase whose outcome is unknown keeps its word.
func TestARepeatedPendingPurchaseHasItsWord(t *testing.T) {
	s := newWorld(t).shop(t)
	ask := func() string {
		answer, text := send(t, "POST", s.url+"/api/v1/vtu/purchase-data", fmt.Sprintf(
			`{"idempotencyKey":"lost","serviceCategoryId":%q,"productId":%q,"phoneNumber":"08012345602","settlementId":%s}`, s.category, s.product, s.settlement),
			"Authorization", "Bearer "+s.access, "Content-Type", "application/json", "Idempotency-Key", "lost")
		if answer.StatusCode != http.StatusOK || !strings.Contains(text, `"PENDING"`) {
			t.Errorf("%d %s", answer.StatusCode, text)
		}
		return answer.Header.Get("Idempotent-Replayed") + " " + answer.Header.Get("Kobo-Reason")
	}
	if first, second := ask(), ask(); first != " being_confirmed" || second != "true being_confirmed" {
		t.Errorf("%q, then %q", first, second)
	}
}

// The refusals of no single operation have their words too.
func TestRefusalsOfTheEdgeHaveTheirWords(t *testing.T) {
	config, _ := broken{func() error { return nil }}.config()
	config.Closed = func() bool { return true }
	url := serve(t, config)
	for _, c := range []struct{ method, path, body, header, want string }{
		{"GET", "/api/v1/nothing", "", "", "404 path_not_found"},
		{"PUT", "/api/v1/settlement/accounts", "", "", "405 method_not_allowed"},
		{"POST", "/api/v1/settlement/accounts", strings.Repeat("x", 64<<10+1), "", "413 request_too_large"},
		{"GET", "/api/v1/settlement/accounts", "", strings.Repeat("x", api.MaxHeader), "431 request_too_large"},
		{"GET", "/api/v1/settlement/accounts", "", "", "503 service_unavailable"},
	} {
		// The body is not sent before the server wants it. Otherwise its refusal may close the connection while the body is still being written.
		answer, _ := send(t, c.method, url+c.path, c.body, "Content-Type", "application/json", "X-Long", c.header, "Expect", "100-continue")
		if got := fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Kobo-Reason")); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, got, c.want)
		}
	}
}
