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

	"github.com/kobo-waas/kobo/internal/id"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// A company's API keys, kept accounts, bulk payouts, requests and events are read to the end by links. Each row is there once, the newest
// first, also while rows arrive.
func TestACompanyReadsItsOtherListsToTheEnd(t *testing.T) {
	each(t, func(w *world) {
		n, now := 0, w.app.Clock.Now().UnixMicro()
		add := func() {
			w.t.Helper()
			n++
			at := now + int64(n)
			w.plant(`INSERT INTO company_api_key (company_id, id, hash, state, created_at, expires_at, name, ending)
				VALUES ($1, $2, $3, 'REVOKED', $4, 0, 'planted', $5)`, w.company.Reference, id.New(), fmt.Sprint("hash ", n), at, fmt.Sprintf("%04d", n))
			w.plant(`INSERT INTO payout_beneficiary (company_id, bank_code, account_number, bank_name, account_name, label, created_at)
				VALUES ($1, '000013', $2, 'GTBank', 'Okafor', '', $3)`, w.company.Reference, fmt.Sprintf("%010d", n), now+int64(n/2))
			w.plant(`INSERT INTO payout_bulk (company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at,
				send_until, ended_at) VALUES ($1, $2, 'CANCELLED', 1, 'safehaven', 0, $3, 0, 0, 0, 0, 0)`, w.company.Reference, id.New(), at)
			w.plant(`INSERT INTO request_log (company_id, id, method, path, status, reason, request_id, idempotency_key, api_key_id, address, body, took_micros,
				created_at, subject) VALUES ($1, $2, 'GET', '/api/v1/company', 200, '', $2, 'planted', '', '192.0.2.1', '', 1, $3, '')`,
				w.company.Reference, fmt.Sprintf("%016x%012x", at, n), at)
			w.payout("0123456710", 1+n)
		}
		for range 60 {
			add()
		}
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		for path, row := range map[string]string{
			"/app/developers":   `data-label="Key" class="nowrap">([^<]+)<`,
			"/app/payouts/kept": `name="kept" value="([^"]+)"`,
			"/app/payouts/bulk": `href="/app/payouts/bulk/([0-9a-f-]{36})"`,
			"/app/developers/requests?idempotencyKey=planted": `data-copy="([0-9a-f]{28})"`,
			"/app/developers/events":                          `data-copy="([0-9a-f-]{36})"`,
		} {
			mark := regexp.MustCompile(row)
			before := ada.follow(path, mark, func() {})
			if unique := slices.Compact(slices.Sorted(slices.Values(before))); len(unique) != len(before) || len(before) < 60 {
				w.t.Errorf("%s: %d of %d rows are different", path, len(unique), len(before))
			}
			if got := ada.follow(path, mark, add); !slices.Equal(got, before) {
				w.t.Errorf("%s: other rows while rows arrive: %d; want %d", path, len(got), len(before))
			}
		}
		events := ada.follow("/app/developers/events", ownRow, func() {})
		if first := events[len(events)-1]; !strings.Contains(first, `>1<`) {
			w.t.Errorf("the list ends with the event %s", first)
		}
	})
}

// A list says which words a filter knows, and names only filters of the screen.
func TestAWrongFilterIsRefusedInWords(t *testing.T) {
	w := open(t)
	dev := w.signIn("dev")
	for path, say := range map[string][]string{
		"/console/payments?state=bogus":     {`No state has the name "bogus".`, "unknown: Unknown", "open: Without an outcome"},
		"/console/payments.csv?state=bogus": {`No state has the name "bogus".`},
		"/console/payments?word=unknown":    {`This page knows no filter with the name "word". It knows these:`, "state"},
		"/console/overview?company=x":       {`This page has no filters, and the address has one with the name "company".`},
	} {
		if g := dev.get(path); g.status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, g.status)
		} else {
			for _, want := range say {
				if !strings.Contains(html.UnescapeString(g.text), want) {
					t.Errorf("%s does not say %q: %s", path, want, g.text)
				}
			}
		}
	}
}

// An event has a page with its data, to which its row and each of its deliveries lead. A viewer reads it masked, and another company not at all.
func TestAnEventHasAPage(t *testing.T) {
	each(t, func(w *world) {
		ada, vera := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "vera", who.Viewer)
		endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(endpoint.Close)
		hook, err := w.app.Webhooks.Create(t.Context(), w.company.Reference, webhook.Draft{URL: &endpoint.URL}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		reference := w.payout("0123456710", 100)
		if err := w.app.Webhooks.Settled(t.Context()); err != nil {
			w.t.Fatal(err)
		}
		delivery := found(w.t, regexp.MustCompile(`href="(/app/developers/webhooks/[^"/]+/deliveries/[^"/]+)"`), ada.read("/app/developers/webhooks/"+hook.ID))
		page := found(w.t, regexp.MustCompile(`href="(/app/developers/events/[^"]+)">What was sent`), ada.read(delivery))
		ada.says(page, "payout.", `"reference": "`+reference+`"`, "0123456710", `href="/app/p/`+reference)
		ada.says("/app/developers/events", `href="`+page+`"`)
		vera.says(page, "******6710", "reads personal data masked")
		vera.lacks(page, "0123456710")
		if g := w.seat(w.another(), "eve", who.Owner).get(page); g.status != http.StatusNotFound {
			w.t.Errorf("the event of another company: %d", g.status)
		}
	})
}
