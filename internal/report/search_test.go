package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

func TestTheShapeOfATextSaysWhatItIs(t *testing.T) {
	for text, want := range map[string]string{
		"999240261122031200123456789012":             "a session ID",
		"99924 02611 22031 20012 34567 89012":        "a session ID",
		"0123456789":                                 "an account number",
		"012-345-6789":                               "an account number",
		"0803 123 4567":                              "a phone number",
		"+2348031234567":                             "a phone number",
		"234 803 123 4567":                           "a phone number",
		"45031234567":                                "a meter or smartcard number",
		"22212345678":                                "a meter or smartcard number, or a BVN",
		"4111 1111 1111 1111":                        "a card number",
		"4111-1111-1111-1112":                        "a number",
		"0199c1f2-7b1e-7c0a-9d3e-00000000000b":       "an ID of Kobo",
		"0199C1F2-7B1E-7C0A-9D3E-00000000000B":       "an ID of Kobo",
		"c0123456789abcdefghijklmn":                  "the reference of a company",
		"0x" + strings.Repeat("ab", 32):              "a transaction hash",
		strings.Repeat("ab", 32):                     "a transaction hash",
		"0x52908400098527886E0F7030069857D2E4169E":   "a reference or a name", // one character short
		"0x52908400098527886E0F7030069857D2E4169EE7": "an address on a chain",
		"kobo_admin_abcdef":                          "a secret",
		"WHSEC_abcdef":                               "a secret",
		"Ada@Example.com":                            "an e-mail address",
		"18,250.50":                                  "an amount",
		"₦18250":                                     "an amount",
		"abc":                                        "a short text",
		"   ":                                        "a short text",
		"order-17":                                   "a reference or a name",
		"Okafor Emeka":                               "a reference or a name",
	} {
		if got := report.Ask(text); got.As != want {
			t.Errorf("%q is %s, not %s", text, got.As, want)
		}
	}
}

// What may be a BVN, a card number or a secret is kept nowhere, and looked up nowhere.
func TestASecretNumberIsNeitherKeptNorLookedUp(t *testing.T) {
	for _, text := range []string{"22212345678", "222-1234-5678", "+22212345678", "4111111111111111", "4111 1111 1111 1111", "kobo_live_secret", "whsec_secret"} {
		got := report.Ask(text)
		if got.Normal() != "" || len(got.Where) > 0 || got.Note == "" || strings.Contains(fmt.Sprintf("%+v", got), "1111") || strings.Contains(fmt.Sprintf("%+v", got), "2345") {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// plantCustomers adds customers of the company, with the same data as the service writes.
func (w *world) plantCustomers() {
	w.t.Helper()
	for i, c := range [][5]string{
		{"c-ada", "Ada", "OKAFOR", "ada@example.com", "08031234567"},
		{"c-bola", "Bola", "Okafor", "bola@example.com", "+2348031234568"},
		{"c-okaf", "okafia", "Obi", "x@y.ng", "08031234569"},
	} {
		_, err := w.db.Exec(w.t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
			date_of_birth, address, search, status, created_at, updated_at) VALUES ($1, $2, $3, $4, '', $5, $6, $7, '1990-05-17',
			'{"line1":"1 Marina","city":"Lagos","state":"Lagos"}', $8, 'ACTIVE', 1, 1)`,
			w.company, c[0], i+1, c[1], c[2], c[3], c[4], strings.ToLower(strings.Join(c[1:], " ")))
		must(w.t, err)
		_, err = w.db.Exec(w.t.Context(), `INSERT INTO customer_email (company_id, email, customer_id, created_at) VALUES ($1, $2, $3, 1)`, w.company, c[3], c[0])
		must(w.t, err)
	}
}

// found returns the kinds and ids of what a search finds.
func (w *world) found(text string) (out []string) {
	w.t.Helper()
	hits, _, err := w.Search(w.t.Context(), report.Ask(text))
	must(w.t, err)
	for _, h := range hits {
		out = append(out, h.Kind+" "+h.ID)
	}
	slices.Sort(out)
	return out
}

func TestASearchFindsPeopleByWhatTheySay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.plantCustomers()
		for text, want := range map[string][]string{
			"0803 123 4567": {"customer c-ada"}, "+234 803 123 4567": {"customer c-ada"}, "08031234568": {"customer c-bola"}, "08031234560": nil,
			"ADA@example.com": {"customer c-ada"}, "ada@example.co": nil,
			"okaf": {"customer c-ada", "customer c-bola", "customer c-okaf"}, "Okafor": {"customer c-ada", "customer c-bola"},
			"okafor bola": {"customer c-bola"}, "bola okaf": {"customer c-bola"}, "afor": nil, "%%%%": nil, "____": nil,
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
		hits, _, err := w.Search(t.Context(), report.Ask("okafor").WithoutNames())
		if err != nil || len(hits) > 0 {
			t.Errorf("without names: %v %v", hits, err)
		}
		// What an erasure strikes is not found any more.
		_, err = d.Exec(t.Context(), `UPDATE customer SET first_name = '', last_name = '', email = '', phone_number = '', search = '', erased_at = 2 WHERE id = 'c-ada'`)
		must(t, err)
		for _, text := range []string{"08031234567", "ada@example.com", "OKAFOR Ada"} {
			if got := w.found(text); got != nil {
				t.Errorf("%q finds an erased customer: %v", text, got)
			}
		}
	})
}

func TestASearchFindsAPaymentByItsReferences(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{ExternalReference: "order-17"}, false)
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		reference := paid[0].Reference
		session := strings.Repeat("9", 30)
		_, err = d.Exec(t.Context(), `UPDATE operation SET provider_reference = $1 WHERE id = $2`, session, reference)
		must(t, err)
		w.plantCustomers()
		account, err := db.One(t.Context(), d, db.Value[string], `SELECT account_number FROM payout_verification WHERE id = $1`, reference)
		must(t, err)
		for _, text := range []string{reference, strings.ToUpper(reference), session, "order-17", account} {
			if got := w.found(text); !slices.Contains(got, "payout "+reference) {
				t.Errorf("%q: %v", text, got)
			}
		}
		for _, text := range []string{"order-1", session[:29] + "8"} {
			if got := w.found(text); got != nil {
				t.Errorf("%q: %v", text, got)
			}
		}
		if got := w.found(w.company); len(report.Ask(w.company).As) == 0 || got != nil && !slices.Contains(got, "company "+w.company) {
			t.Errorf("%q: %v", w.company, got)
		}
	})
}

func TestASearchOfManyShowsFive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for i := range 9 {
			_, err := d.Exec(t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
				date_of_birth, address, search, status, created_at, updated_at) VALUES ($1, $2, $3, 'Ngozi', '', 'X', '', '08031234567', '', '', 'ngozi x', 'ACTIVE', 1, 1)`,
				w.company, fmt.Sprint("n", i), i+1)
			must(t, err)
		}
		for _, text := range []string{"ngozi", "08031234567"} {
			if hits, more, err := w.Search(t.Context(), report.Ask(text)); err != nil || len(hits) != 5 || !more {
				t.Errorf("%q: %d, %v, %v", text, len(hits), more, err)
			}
		}
	})
}

func TestListsOfACompanyMaskContactsAndTurnPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.plantCustomers()
		for i := range 60 {
			_, err := d.Exec(t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
				date_of_birth, address, search, status, created_at, updated_at) VALUES ($1, $2, $3, 'N', '', 'X', '', '', '', '', '', 'ACTIVE', 1, 1)`, w.company, fmt.Sprint("n", i), i+10)
			must(t, err)
		}
		first, err := w.People(t.Context(), w.company, "")
		must(t, err)
		second, err := w.People(t.Context(), w.company, first.Next)
		must(t, err)
		if len(first.Rows) != 50 || first.Next == "" || len(second.Rows) != 13 || second.Next != "" {
			t.Fatalf("%d rows, %q, %d rows, %q", len(first.Rows), first.Next, len(second.Rows), second.Next)
		}
		if ada := second.Rows[12]; ada.ID != "c-ada" || ada.Phone != "0803•••4567" || ada.Email != "a•••@e•••.com" {
			t.Errorf("%+v", ada)
		}
		if all := fmt.Sprintf("%+v", second); strings.Contains(all, "08031234567") || strings.Contains(all, "example.com") {
			t.Error("a page has a whole phone number or e-mail address")
		}
		c, err := w.Contact(t.Context(), w.company, "c-ada")
		if err != nil || c != (report.Contact{Phone: "08031234567", Email: "ada@example.com", Born: "1990-05-17", Address: "1 Marina, Lagos, Lagos"}) {
			t.Errorf("%+v %v", c, err)
		}
		for _, other := range []string{"", "somebody-else"} {
			if _, err := w.Contact(t.Context(), other, "c-ada"); !fault.Is(err, fault.Missing) {
				t.Errorf("of another company: %v", err)
			}
			if p, err := w.People(t.Context(), other, ""); err != nil || len(p.Rows) > 0 {
				t.Errorf("of another company: %+v %v", p, err)
			}
			if _, err := w.FindPerson(t.Context(), other, "c-ada"); !fault.Is(err, fault.Missing) {
				t.Errorf("of another company: %v", err)
			}
		}
		if _, err := w.People(t.Context(), w.company, "x"); !fault.Is(err, fault.Invalid) {
			t.Errorf("a wrong cursor: %v", err)
		}
	})
}
