package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// ownRow is a row of a list at /app.
var ownRow = regexp.MustCompile(`<tr data-row>([\s\S]*?)</tr>`)

// A company's payouts, ledger, credits, virtual accounts, customers and deliveries are read to the end by links. Each row is there once, also
// while rows arrive, and the filters stay.
func TestACompanyReadsItsListsToTheEnd(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(endpoint.Close)
		hook, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var token struct{ AccessToken string }
		w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
		n := int64(0)
		add := func() {
			w.t.Helper()
			n++
			w.payout("0123456710", 10+int(n))
			w.asCompany("POST", "/sandbox/credit", "", map[string]any{"accountNumber": w.company.SettlementAccountNumber, "amount": 100 + n}, nil)
			w.asCompany("POST", "/api/v1/virtual-account/generate", token.AccessToken, map[string]any{"amount": 700, "externalReference": fmt.Sprint("order ", n)}, nil)
			w.plant(`INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number, date_of_birth, address, search,
				status, created_at, updated_at) VALUES ($1, $2, $3, 'Ngozi', '', 'Okafor', $2, '08031234567', '1990-05-17', '', 'ngozi', 'ACTIVE', 1, 1)`,
				w.company.Reference, id.New(), 2_000_000+n)
			later(w.t, func() string { // the bank's notification is worked after the sandbox has answered
				booked, err := db.One(w.t.Context(), w.app.DB, db.Value[int64], `SELECT count(*) FROM settlement_credit WHERE company_id = $1`, w.company.Reference)
				if err != nil || booked < n {
					return fmt.Sprintf("%d of %d credits are booked, %v", booked, n, err)
				}
				return ""
			})
			if err := w.app.Webhooks.Settled(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		}
		for range 53 {
			add()
		}
		ofDelivery := regexp.MustCompile(`<tr data-row>[\s\S]*?/deliveries/([^"/]+)">`) // the whole row has the number of its form
		for _, path := range []string{
			"/app/payouts", "/app/payouts?status=SUCCESS", "/app/payouts?period=all", "/app/money", "/app/money?receiver=settlement",
			"/app/money/ledger", "/app/money/ledger?settlementId=1", "/app/money/virtual-accounts", "/app/customers",
			"/app/developers/webhooks/" + hook.ID,
		} {
			mark := ownRow
			if strings.HasPrefix(path, "/app/developers/") {
				mark = ofDelivery
			}
			before := ada.follow(path, mark, func() {})
			if unique := slices.Compact(slices.Sorted(slices.Values(before))); len(unique) != len(before) || len(before) < 53 {
				t.Errorf("%s: %d of %d rows are different", path, len(unique), len(before))
			}
			if got := ada.follow(path, mark, add); !slices.Equal(got, before) {
				t.Errorf("%s: other rows while rows arrive: %d; want %d", path, len(got), len(before))
			}
		}
	})
}

// The cursors of a company's lists have a page with the reason if they are wrong. One that another company's list has returned shows
// nothing of that company.
func TestAWrongCursorOfACompanyHasAPage(t *testing.T) {
	w := open(t)
	w.plantCustomer()
	for n := range 51 {
		w.payout("0123456710", 10+n)
	}
	ada := w.seat(w.company.Reference, "ada", who.Owner)
	for _, path := range []string{
		"/app/payouts", "/app/money", "/app/money/ledger", "/app/money/virtual-accounts", "/app/customers", "/app/customers/c1", "/app/services",
		"/app/services/purchases", "/app/services/crypto", "/app/approvals", "/app/settings/proof", "/app/payouts/bulk", "/app/payouts/kept",
		"/app/developers", "/app/developers/requests", "/app/developers/events",
	} {
		g := ada.get(path + "?after=zzz!" + id.New())
		if text := html.UnescapeString(g.text); g.status != http.StatusBadRequest || !strings.Contains(text, `"after" is not a cursor of this list`) {
			t.Errorf("%s: %d, %s", path, g.status, text)
		}
		if g := ada.get(path + "?page=2"); g.status != http.StatusBadRequest {
			t.Errorf("%s: %d for a numbered page", path, g.status)
		}
	}
	next := olderLink.FindStringSubmatch(ada.read("/app/payouts"))
	if next == nil {
		t.Fatal("the payouts have no second page")
	}
	stranger := w.seat(w.another(), "eve", who.Owner)
	if text := stranger.read(html.UnescapeString(next[1])); ownRow.MatchString(text) {
		t.Errorf("the cursor of another company shows %s", text)
	}
}
