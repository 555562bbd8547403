package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/quota"
)

// Every operation with a daily quota reports an exhausted quota in its own error format. A repeated
// request that gets a stored response does not count towards the quota. A refused request does not
// use up its Idempotency-Key.
func TestAnswersOfExhaustedQuotas(t *testing.T) {
	w := newWorld(t)
	day := w.clock.Now().In(clock.Lagos)
	noon := time.Date(day.Year(), day.Month(), day.Day()+1, 12, 0, 0, 0, clock.Lagos)
	w.clock.MoveTo(noon.Sub(day)) // so that the test does not run past midnight
	book := ledger.New(w.db, w.clock)
	t.Cleanup(book.Drain)
	quotas := quota.New(w.db, book, w.clock)
	for _, kind := range []quota.Kind{quota.OTP, quota.SettlementAccount, quota.CryptoAddress, quota.VirtualAccount} {
		if err := quotas.Set(t.Context(), me, w.reference, kind, 1); err != nil {
			t.Fatal(err)
		}
	}
	_, url := w.serve(t)
	access, _, err := w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"])
	if err != nil {
		t.Fatal(err)
	}
	midnight := noon.Add(12 * time.Hour)
	ask := func(path, body, key string) (status int, replayed bool, text string) {
		t.Helper()
		before := w.clock.Now()
		answer, text := send(t, "POST", url+path, body, "Authorization", "Bearer "+access, "Content-Type", "application/json", "Idempotency-Key", key)
		if answer.StatusCode == http.StatusTooManyRequests {
			// Retry-After must lead to midnight, counted from an instant between before and now.
			wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			seconds := time.Duration(wait) * time.Second
			if err != nil || w.clock.Now().Add(seconds).Before(midnight) || !before.Add(seconds-time.Second).Before(midnight) {
				t.Errorf("%s: Retry-After is %q at %s, and the day ends at %s", path, answer.Header.Get("Retry-After"), before, midnight)
			}
		}
		return answer.StatusCode, answer.Header.Get("Idempotent-Replayed") == "true", strings.TrimSpace(text)
	}
	const of = "Daily limit of 1 "
	network := w.Crypto.ListNetworks()[0].ID
	person := func(n int) string {
		return `{"firstName":"Ada","lastName":"Tester","email":"ada` + strconv.Itoa(n) + `@example.com","phoneNumber":"08012345678","bvn":"2221234560` + strconv.Itoa(n) + `"}`
	}
	for i, c := range []struct{ path, first, second, refusal string }{
		{"/api/v1/customer/create", person(1), person(2), `{"status":"error","message":"` + of + `OTPs reached"}`},
		{"/api/v1/settlement/accounts", `{"name":"Payroll"}`, `{"name":"Taxes"}`, `{"status":"error","message":"` + of + `settlement accounts reached"}`},
		{
			"/api/v1/crypto/generate-address/" + network, `{"label":"one"}`, `{"label":"two"}`,
			`{"status":"error","message":"` + of + `crypto addresses reached"}`,
		},
		{
			"/api/v1/virtual-account/generate", `{"externalReference":"order-1","amount":50}`, `{"externalReference":"order-2","amount":50}`,
			`{"status":"error","message":"` + of + `virtual accounts reached"}`,
		},
	} {
		first, second := "first-"+strconv.Itoa(i), "second-"+strconv.Itoa(i)
		if status, _, text := ask(c.path, c.first, first); status != 200 {
			t.Errorf("%s: %d %s", c.path, status, text)
		}
		for range 2 {
			if status, replayed, text := ask(c.path, c.second, second); status != 429 || replayed || text != c.refusal {
				t.Errorf("%s: %d %v %s", c.path, status, replayed, text)
			}
		}
		if status, replayed, text := ask(c.path, c.first, first); status != 200 || !replayed {
			t.Errorf("%s again: %d %v %s", c.path, status, replayed, text)
		}
	}
	_, uses, err := quotas.Uses(t.Context(), w.reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		if u.Used != 1 {
			t.Errorf("%s: %d count", u.Kind, u.Used)
		}
		if err := quotas.Set(t.Context(), me, w.reference, u.Kind, 2); err != nil {
			t.Fatal(err)
		}
	}
	if status, replayed, text := ask("/api/v1/settlement/accounts", `{"name":"Taxes"}`, "second-1"); status != 200 || replayed {
		t.Errorf("the refused request with its key: %d %v %s", status, replayed, text)
	}
}
