package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
)

// Each row of the table of what somebody may type leads to where it says.
func TestTheSearchBoxTakesWhatSomebodyReadsOut(t *testing.T) {
	each(t, func(w *world) {
		t := w.t
		w.plantCustomer()
		p := w.signIn("dev")
		lagos := time.FixedZone("Lagos", 60*60)
		yesterday := time.Now().In(lagos).AddDate(0, 0, -1).Format(time.DateOnly)
		ask := func(text string) page {
			t.Helper()
			return p.send("/console/search", p.form("/console/companies", map[string]string{"q": text}))
		}
		for text, want := range map[string]string{
			"18250":                "least=18250.00&most=18250.00",
			"500":                  "least=500.00&most=500.00",
			"18,250":               "least=18250.00&most=18250.00",
			"₦18,250":              "least=18250.00&most=18250.00",
			"18250.5":              "least=18250.50&most=18250.50",
			"1m":                   "least=1000000.00&most=1000000.00",
			"1.5M":                 "least=1500000.00&most=1500000.00",
			">1m":                  "least=1000000.01",
			">= ₦500k":             "least=500000.00",
			"<2,000":               "most=1999.99",
			"yesterday":            "from=" + yesterday + "&to=" + yesterday,
			"2026-11-21":           "from=2026-11-21&to=2026-11-21",
			"18,250.50 2026-11-21": "from=2026-11-21&least=18250.50&most=18250.50&to=2026-11-21",
			"Yesterday >1m":        "from=" + yesterday + "&least=1000000.01&to=" + yesterday,
			"2026-11-21 18250":     "from=2026-11-21&least=18250.00&most=18250.00&to=2026-11-21",
		} {
			g := ask(text)
			if g.location != "/console/payments?"+want {
				t.Errorf("%q leads to %d %q", text, g.status, g.location)
				continue
			}
			p.read(g.location)
		}
		for _, text := range []string{"1,5", "18,25", "99999999999m", "₦99,999,999,999,999,999,999"} {
			if g := ask(text); g.status != http.StatusUnprocessableEntity || !strings.Contains(g.text, "is not an amount") {
				t.Errorf("%q: %d to %q", text, g.status, g.location)
			}
		}
		for text, want := range map[string]string{
			strings.Repeat("9", 30):                      "no session ID while its outcome is unknown",
			"0123456789":                                 "Looked for an account number among settlement accounts, customers&#39; accounts, virtual accounts, payouts to it, credits from it, smartcards and meters",
			"18,250.50 0123456789":                       "Looked for an amount to or from an account among payouts to it, credits from it",
			"+234 803 999 4567":                          "Looked for a phone number among customers, airtime and data",
			"45031234567":                                "Looked for a meter or smartcard number",
			"22212345678":                                "does not search by BVN",
			"4111 1111 1111 1111":                        "looks like a card number",
			"411111 1111111111":                          "looks like a card number",
			"36500 0123456708":                           "write ₦ before the amount",
			"36501 0123456708":                           "Looked for an amount to or from an account among payouts to it, credits from it",
			"4111111111111112":                           "Looked for a number among purchases of power and TV, companies&#39; own references, references of providers",
			"0199c1f2-7b1e-7c0a-9d3e-00000000000b":       "bulk payouts, approvals",
			"c0123456789abcdefghijklmn":                  "Looked for the reference of a company",
			strings.Repeat("ab", 32):                     "Looked for a transaction hash",
			"0x52908400098527886E0F7030069857D2E4169EE7": "Looked for an address on a chain",
			"kobo_live_x":                                "That is a secret",
			"whsec_x":                                    "That is a secret",
			"nobody@example.com":                         "Looked for an e-mail address among customers, people who sign in",
			"order-17":                                   "among companies&#39; own references",
			"order-17 2026-11-21":                        "Only what is of 2026-11-21",
			"…f935e96eedd2":                              "looks references up whole",
		} {
			g := ask(text)
			if g.status != http.StatusSeeOther || !strings.HasPrefix(g.location, "/console/search/") {
				t.Errorf("%q leads to %d %q", text, g.status, g.location)
				continue
			}
			if text := p.read(g.location); !strings.Contains(text, want) {
				t.Errorf("lacks %q: %s", want, text)
			}
		}
		w.seat(w.company.Reference, "olu.adeyemi", "owner")
		if g := ask("olu.ade"); g.location != "/console/companies/"+w.company.Reference+"/people" {
			t.Errorf("a person of a company leads to %q", g.location)
		}
		if g := ask("ngozi 2020-01-01"); !strings.Contains(p.read(g.location), "Nothing found") {
			t.Error("a hit of another day is shown")
		}
		viewer := w.add("vera", operator.Viewer)
		if g := viewer.send("/console/search", viewer.form("/console/companies", map[string]string{"q": "yesterday 08031234567"})); g.status != http.StatusForbidden {
			t.Errorf("a viewer looks for a phone number of a day: %d", g.status)
		}
	})
}

// A bulk payout and an approval of a company open by their ids.
func TestWhatWaitsAtACompanyHasAPage(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		const bulk, approval = "0199c1f2-7b1e-7c0a-9d3e-00000000000b", "0199c1f2-7b1e-7c0a-9d3e-00000000000c"
		for _, query := range []string{
			`INSERT INTO payout_bulk (company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at, send_until, ended_at)
				VALUES ($1, '` + bulk + `', 'CANCELLED', 1, 'safehaven', 1, 1000000, 9000000, 2000000, 0, 0, 3000000)`,
			`INSERT INTO company_approval (company_id, id, kind, body, state, asked_by, created_at, expires_at, first_by, decided_by, decided_at, mac)
				VALUES ($1, '` + approval + `', 'SEND_PAYOUT', '{"accountNumber":"0123456789"}', 'WAITING', 'person:ada', 1000000, 9000000, '', '', 0, '')`,
		} {
			if _, err := w.app.DB.Exec(w.t.Context(), query, w.company.Reference); err != nil {
				w.t.Fatal(err)
			}
		}
		for text, want := range map[string]string{bulk: "Bulk payout", approval: "Ada asked for it"} {
			g := p.submit("/console/companies", "/console/search", map[string]string{"q": text})
			if page := p.read(g.location); g.location != "/console/p/"+text || !strings.Contains(page, want) || strings.Contains(page, "0123456789") {
				w.t.Errorf("%s at %s: %s", text, g.location, page)
			}
		}
	})
}
