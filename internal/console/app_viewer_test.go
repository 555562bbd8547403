package console_test

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// private are the personal data that the test plants: of a customer, of purchases and payouts, and within a narration.
var private = []string{"08031234567", "ngozi@example.com", "08031234510", "0123456710", "0123456702", "0123456799", "08099887766"}

// fileLink matches a link, or the address of a form, that leads to a file with personal data.
var fileLink = regexp.MustCompile(`(?:href|action)="[^"]*(?:\.csv|\.xlsx|/proof\.pdf|/receipt|/statement)["?]`)

// plantPrivate lets the company do something of each kind. It returns the addresses of each pattern that has a part in braces.
func (w *world) plantPrivate(ada, bola *person) map[string][]string {
	w.t.Helper()
	card := bola.newCard()
	customer := "/app/customers/" + strings.TrimPrefix(found(w.t, regexp.MustCompile(`(/app/customers/[0-9a-f-]{36})`), bola.read("/app/customers")), "/app/customers/")
	draft := bola.submit("/app/payouts/new", "/app/payouts/check", map[string]string{
		"bank_code": "000013", "account_number": "0123456710", "amount": "100", "fromSettlementId": "1", "pin": w.company.PIN, "narration": "call 08099887766 or ngozi@example.com",
	}).location
	paid, unknown := bola.submit(draft, draft, nil).location, "/app/p/"+w.payout("0123456702", 300)
	at := bola.counter("Airtime")
	sale := bola.submit(at.path, "/app/services/purchases/check", map[string]string{"settlementId": "1", "service": at.service, "category": at.category, "number": "08031234510", "amount": "50"}).location
	bought := bola.submit(sale, sale, nil).location
	bulk := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
		"fromSettlementId": "1", "pin": w.company.PIN, "lines": "000013,0123456710,100,for 08099887766\n000013,0123456799,100",
	}).location
	later(w.t, func() string {
		if text := bola.read(bulk); strings.Contains(text, "Being checked") || !strings.Contains(text, "Bad") {
			return text
		}
		return ""
	})
	ada.require("1000")
	approval := bola.sends("0123456710", "2000").approval(w.t.(*testing.T))
	url := "http://127.0.0.1:9"
	hook, err := w.app.Webhooks.Create(w.t.Context(), w.company.Reference, webhook.Draft{URL: &url}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	sent, err := w.app.Webhooks.Test(w.t.Context(), w.company.Reference, hook.ID, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	var events []string
	for _, m := range regexp.MustCompile(`href="(/app/developers/events/[^"]+)"`).FindAllStringSubmatch(bola.read("/app/developers/events"), -1) {
		events = append(events, m[1])
	}
	return map[string][]string{
		"GET /app/developers/events/{id}":                         events,
		"GET /app/p/{reference}":                                  {paid, unknown, bought},
		"GET /app/p/{reference}/receipt":                          {paid + "/receipt"},
		"GET /app/p/{reference}/proof.pdf":                        {paid + "/proof.pdf"},
		"GET /app/customers/{id}":                                 {customer},
		"GET /app/services/cards/{id}":                            {card},
		"GET /app/services/cards/{id}/fund/{n}":                   {card + "/fund/none"},
		"GET /app/payouts/bulk/{id}":                              {bulk, bulk + "?show=bad"},
		"GET /app/payouts/bulk/{id}/bad.csv":                      {bulk + "/bad.csv"},
		"GET /app/payouts/bulk/new":                               {"/app/payouts/bulk/new?instead=" + strings.TrimPrefix(bulk, "/app/payouts/bulk/")},
		"GET /app/payouts/confirm/{n}":                            {draft},
		"GET /app/services/purchases/confirm/{n}":                 {sale},
		"GET /app/money/transfer/{n}":                             {"/app/money/transfer/none"},
		"GET /app/money/statement":                                {"/app/money/statement?settlementId=1&format=csv", "/app/money/statement?settlementId=1&format=json"},
		"GET /app/settings/proof/receipt":                         {"/app/settings/proof/receipt?reference=" + strings.TrimPrefix(paid, "/app/p/")},
		"GET /app/settings/proof/consistency":                     {"/app/settings/proof/consistency?from=1"},
		"GET /app/settings/people/invited/{n}":                    {"/app/settings/people/invited/none"},
		"GET /app/approvals/{id}":                                 {approval},
		"GET /app/search/{answer}":                                {"/app/search/none"},
		"GET /app/developers/keys/{n}":                            {"/app/developers/keys/none"},
		"GET /app/developers/webhooks/{id}":                       {"/app/developers/webhooks/" + hook.ID},
		"GET /app/developers/webhooks/{id}/made/{n}":              {"/app/developers/webhooks/" + hook.ID + "/made/none"},
		"GET /app/developers/webhooks/{id}/deliveries/{delivery}": {"/app/developers/webhooks/" + hook.ID + "/deliveries/" + sent.ID},
	}
}

// A viewer reads personal data masked at each address of the company's side, finance reads them whole, and a file with such data
// needs the role finance or owner. The pages of a viewer lead to no such file.
func TestAViewerReadsPersonalDataMasked(t *testing.T) {
	each(t, func(w *world) {
		ada, bola := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "bola", who.Finance)
		vera, dele := w.seat(w.company.Reference, "vera", who.Viewer), w.seat(w.company.Reference, "dele", who.Developer)
		addresses := w.plantPrivate(ada, bola)
		seen := map[string]bool{} // what finance reads somewhere
		for _, pattern := range console.AppPatterns() {
			method, path, _ := strings.Cut(pattern, " ")
			if method != http.MethodGet {
				continue
			}
			some := addresses[pattern]
			if some == nil {
				if strings.Contains(path, "{") {
					w.t.Fatalf("the test has no address for %s", pattern)
				}
				some = []string{path}
			}
			isFile := slices.Contains(console.AppFiles(), pattern)
			for _, address := range some {
				g := vera.get(address)
				text := html.UnescapeString(g.text)
				for _, one := range private {
					if strings.Contains(text, one) {
						w.t.Errorf("a viewer reads %s at %s", one, address)
					}
					seen[one] = seen[one] || !isFile && strings.Contains(html.UnescapeString(bola.get(address).text), one)
				}
				if isFile && path != "/app/settings/proof/consistency" && (g.status != http.StatusForbidden || !strings.Contains(text, "finance")) {
					w.t.Errorf("a viewer downloads %s: %d", address, g.status)
				}
				if !isFile && fileLink.MatchString(text) {
					w.t.Errorf("%s leads a viewer to a file that a viewer may not have", address)
				}
			}
		}
		for _, one := range private {
			if !seen[one] {
				w.t.Errorf("no page has %s for finance either, so this test proves nothing about it", one)
			}
		}
		for address, want := range map[string]string{addresses["GET /app/customers/{id}"][0]: "0803•••4567", addresses["GET /app/p/{reference}"][0]: "******6710"} {
			vera.says(address, want)
		}
		vera.says(addresses["GET /app/customers/{id}"][0], "n•••@e•••.com")
		vera.says("/app/payouts", "Owners and people in the role finance can download it")
		for _, text := range []string{"0803 123 4567", "ngozi@example.com", "0123456710", "ngozi"} {
			g := vera.submit("/app/search", "/app/search", map[string]string{"q": text})
			vera.lacks(g.location, private...)
		}
		if g := dele.get("/app/payouts.csv"); g.status != http.StatusForbidden {
			w.t.Errorf("a developer exports: %d", g.status)
		}
		if g := dele.get(addresses["GET /app/p/{reference}"][0] + "/receipt"); g.status != http.StatusOK {
			w.t.Errorf("a developer has no receipt: %d", g.status)
		}
	})
}

// A page with a form for money has no form and no field for the PIN for somebody who may not use it. It says who may.
func TestAViewerSeesNoFormThatIsRefused(t *testing.T) {
	each(t, func(w *world) {
		bola, vera, dele := w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.company.Reference, "vera", who.Viewer), w.seat(w.company.Reference, "dele", who.Developer)
		for path, form := range map[string]string{
			"/app/payouts/new": "/app/payouts/check", "/app/payouts/bulk/new": "/app/payouts/bulk/new", "/app/customers/new": "/app/customers/new",
			"/app/money/virtual-accounts/new": "/app/money/virtual-accounts/new",
		} {
			const said = "Owners and people in the role finance "
			bola.says(path, `action="`+form+`"`)
			bola.lacks(path, said)
			for _, p := range []*person{vera, dele} {
				p.says(path, said)
				p.lacks(path, `action="`+form+`"`, `name="pin"`)
			}
		}
	})
}
