package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
)

// A bulk payout may have a body of 2 MiB. Every other operation keeps its limit of 64 KiB.
func TestOnlyABulkPayoutMayBeLarge(t *testing.T) {
	cfg, _ := broken{func() error { return nil }}.config()
	h, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"bank_code": "000014", "account_number": "0123456789", "amount": 1, "narration": "` + strings.Repeat("n", 100) + `"},`
	body := fmt.Sprintf(`{"fromSettlementId": 1, "pin": "1234", "lines": [%s]}`, strings.TrimSuffix(strings.Repeat(line, 1000), ","))
	for path, want := range map[string]int{
		"/api/v1/settlement/bulk-payout": http.StatusOK, "/api/v1/settlement/transfer": http.StatusRequestEntityTooLarge,
	} {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer let-me-in")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
