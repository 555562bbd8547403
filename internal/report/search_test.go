package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
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
		"c3v7k2m9x4":                                 "a reference or a name",
		"christophe":                                 "a reference or a name",
		"0x" + strings.Repeat("ab", 32):              "a transaction hash",
		strings.Repeat("ab", 32):                     "a transaction hash",
		"0x52908400098527886E0F7030069857D2E4169E":   "a reference or a name", // one character short
		"0x52908400098527886E0F7030069857D2E4169EE7": "an address on a chain",
		"kobo_admin_abcdef":                          "a secret",
		"WHSEC_abcdef":                               "a secret",
		"Ada@Example.com":                            "an e-mail address",
		"18,250.50":                                  "an amount",
		"₦18250":                                     "an amount",
		"18,250.50 0123456789":                       "an amount to or from an account",
		"0123456789 ₦18250":                          "an amount to or from an account",
		"234 8031234567":                             "a phone number",
		"411111 1111111111":                          "a card number",
		"36500 0123456708":                           "a card number", // its check digit is right
		"36501 0123456708":                           "an amount to or from an account",
		"0123456708 36501":                           "an amount to or from an account",
		"₦36500 0123456708":                          "an amount to or from an account",
		"0 8031234567":                               "a phone number",
		"00366 0123456708":                           "a number",
		"…f935e96eedd2":                              "the end of a reference",
		"...f935e96eedd2":                            "the end of a reference",
		"abc":                                        "a short text",
		"   ":                                        "a short text",
		strings.Repeat("é", 1000):                    "a reference or a name",
		strings.Repeat("é", 1001):                    "a long text",
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

// Two groups of digits that may be a card number are refused, and the note says how to write an amount beside an account number.
func TestAnAmountBesideAnAccountNumberMayNeedTheSign(t *testing.T) {
	for text, want := range map[string]bool{
		"36500 0123456708": true, "0123456708 365008": true, "411111 1111111111": true, "4111 1111 1111 1111": false, "4111111111111111": false, "36501 0123456708": false,
	} {
		got := report.Ask(text)
		if strings.Contains(got.Note, "write ₦ before the amount") != want || want && (got.Normal() != "" || len(got.Where) > 0) {
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
			strings.Repeat("_", 25_000): nil,
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
		hits, _, err := w.Search(t.Context(), report.Ask("okafor").WithoutNames())
		if err != nil || len(hits) > 0 {
			t.Errorf("without names: %v %v", hits, err)
		}
		// Neither side finds an erased customer any more. The account number stays in its row.
		const account = "9900112233"
		_, err = d.Exec(t.Context(), `INSERT INTO customer_account (company_id, customer_id, state, turn, called_until, missing, reference, settlement_id, account_number, account_name, bank_name,
			bank_code, provider_id, message, created_at, updated_at) VALUES ($1, 'c-ada', 'OPEN', '', 0, 0, '', $2, $3, 'ADA', 'Bank', '999240', '', '', 1, 1)`, w.company, w.main, account)
		must(t, err)
		own := func() []report.Hit {
			hits, _, err := w.SearchOwn(t.Context(), w.company, report.AskOwn(account))
			must(t, err)
			return hits
		}
		if len(own()) != 1 || len(w.found(account)) != 1 {
			t.Errorf("before the erasure: %v and %v", own(), w.found(account))
		}
		_, err = d.Exec(t.Context(), `UPDATE customer SET first_name = '', last_name = '', email = '', phone_number = '', search = '', erased_at = 2 WHERE id = 'c-ada'`)
		must(t, err)
		for _, text := range []string{"08031234567", "ada@example.com", "OKAFOR Ada", account} {
			if got := w.found(text); got != nil {
				t.Errorf("%q finds an erased customer: %v", text, got)
			}
		}
		if hits := own(); len(hits) > 0 {
			t.Errorf("the company finds an erased customer: %v", hits)
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

// A payment is found by what its request carried: the request's id, its Idempotency-Key, and the account of a
// sender. Its story begins with who asked.
func TestASearchFindsAPaymentByItsRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{}, false)
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		reference := paid[0].Reference
		write := func(query string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), query, args...)
			must(t, err)
		}
		write(`INSERT INTO company_api_key (company_id, id, hash, state, created_at, expires_at, mac, name, ending) VALUES ($1, 'k1', 'h', 'ACTIVE', 1, 0, '', 'payroll', '4F2x')`, w.company)
		asks := func(id, request, key, apiKey, subject string, status int) {
			t.Helper()
			write(`INSERT INTO request_log (company_id, id, method, path, status, reason, request_id, idempotency_key, api_key_id, address, body, took_micros, created_at, subject)
				VALUES ($1, $2, 'POST', '/api/v1/x', $3, '', $4, $5, $6, '102.89.23.4', '', 340000, $7, $8)`, w.company, id, status, request, key, apiKey, w.clock.Now().UnixMicro(), subject)
		}
		asks("1", "req-first", "key-first", "k1", reference, 200)
		asks("2", "req-idle", "", "person:ada", "", 400)
		const asUUID = "0d9c2f3e-58a1-4e0e-9b7a-1f2e3d4c5b6a" // the shape of the ids that Kobo gives
		asks("3", asUUID, "", "k1", "", 200)
		write(`INSERT INTO idempotency_key (company_id, value, fingerprint, state, subject, running_until, status, body, created_at) VALUES ($1, 'key-first', '', 'DONE', $2, 0, 200, '', 1)`, w.company, reference)
		write(`INSERT INTO idempotency_key (company_id, value, fingerprint, state, subject, running_until, status, body, created_at) VALUES ($1, 'key-other', '', 'DONE', 'a-customer', 0, 200, '', 1)`, w.company)
		for text, want := range map[string][]string{
			"req-first": {"request req-first"}, "req-idle": {"request req-idle"}, asUUID: {"request " + asUUID}, "req-firs": nil, "key-first": {"payout " + reference}, "key-other": nil, "key-firs": nil,
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
		y, err := w.Timeline(t.Context(), "req-first")
		must(t, err)
		const who = "API key …4F2x payroll from 102.89.23.4: POST /api/v1/x, request req-first, Idempotency-Key key-first, answered 200 after 340 ms"
		if y.Reference != reference || !strings.Contains(texts(y), who) || !slices.ContainsFunc(y.Steps, func(s report.Step) bool { return s.Text == who && s.Lane() == "request" }) {
			t.Errorf("%+v", y)
		}
		if y, err = w.Timeline(t.Context(), "req-idle"); err != nil || y.Kind != "request" || y.State != "400" || !strings.Contains(texts(y), "person ada from 102.89.23.4") {
			t.Errorf("%+v %v", y, err)
		}
		if y, err = w.Timeline(t.Context(), asUUID); err != nil || y.Kind != "request" {
			t.Errorf("the request of the search: %+v %v", y, err)
		}
		if got := w.found("req-first"); len(got) != 1 {
			t.Error(got)
		}

		write(`INSERT INTO settlement_credit (company_id, id, provider, session_id, reference, settlement_id, account_number, amount_kobo, sender_name, sender_account, sender_bank, narration, told_at, created_at)
			VALUES ($1, 'credit-1', 'bank', 's-1', '', 1, '8000000001', 100, 'OBI', '0099887766', 'GTB', '', 1, 1)`, w.company)
		if got := w.found("0099887766"); !slices.Equal(got, []string{"credit credit-1"}) {
			t.Error(got)
		}
	})
}

// A deposit on a chain has a story, under its own reference and under the hash of its transaction. Another
// company's number leads to no story.
func TestADepositHasAStory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		hash := "0x" + strings.Repeat("ab", 32)
		_, err := d.Exec(t.Context(), `INSERT INTO crypto_transaction (company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address,
			counter, tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at)
			VALUES ($1, 7, 's', 1, 'deposit', 'completed', 'ethereum', 'USDT', '0xc', 6, '12500000', '0xours', '0xtheirs', $2, 99, 'b', '', 0, 0, '{}', $3, $4)`,
			w.company, hash, w.clock.Now().UnixMicro(), w.clock.Now().Add(time.Minute).UnixMicro())
		must(t, err)
		u := ledger.For(w.company)
		event.Emit(&u, event.CryptoDepositPending, map[string]string{"hash": hash})
		must(t, w.book.Commit(t.Context(), u))
		own := w.company + "-7"
		y, err := w.Timeline(t.Context(), own)
		must(t, err)
		all := texts(y)
		if y.Kind != "deposit" || y.Reference != own || y.State != "completed" || y.Counterparty != "12.5 USDT" || y.ProviderReference != hash || y.Amount != 0 {
			t.Errorf("%+v", y)
		}
		for _, want := range []string{"deposit of 12.5 USDT on ethereum at 0xours, the other address is 0xtheirs, transaction " + hash, "completed, in block 99", "crypto.deposit"} {
			if !strings.Contains(all, want) {
				t.Errorf("lacks %q: %s", want, all)
			}
		}
		if by, err := w.Timeline(t.Context(), hash); err != nil || texts(by) != all {
			t.Errorf("by the hash: %+v %v", by, err)
		}
		if got := w.found(hash); !slices.Equal(got, []string{"deposit 7"}) {
			t.Error(got)
		}
		for _, other := range []string{w.company + "-8", "c" + strings.Repeat("0", 24) + "-7", strings.Repeat("ab", 31) + "00"} {
			if _, err := w.Timeline(t.Context(), other); !fault.Is(err, fault.Missing) {
				t.Errorf("%s: %v", other, err)
			}
		}
	})
}

// An amount beside an account number finds the payments of this amount to the account, and from it.
func TestASearchFindsAnAmountOfAnAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{}, false)
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		account, err := db.One(t.Context(), d, db.Value[string], `SELECT account_number FROM payout_verification WHERE id = $1`, paid[0].Reference)
		must(t, err)
		_, err = d.Exec(t.Context(), `INSERT INTO settlement_credit (company_id, id, provider, session_id, reference, settlement_id, account_number, amount_kobo, sender_name, sender_account, sender_bank, narration, told_at, created_at)
			VALUES ($1, 'credit-1', 'bank', 's-1', '', 1, '8000000001', 1825050, 'OBI', '0099887766', 'GTB', '', 1, 1)`, w.company)
		must(t, err)
		for text, want := range map[string][]string{
			paid[0].Amount.Decimal() + " " + account: {"payout " + paid[0].Reference}, account + " ₦" + paid[0].Amount.Decimal(): {"payout " + paid[0].Reference},
			"999,999.99 " + account: nil, "18,250.50 0099887766": {"credit credit-1"}, "18,250.51 0099887766": nil, "18,250.50 0099887765": nil,
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
	})
}

// A bulk payout and an approval of a company are found by their ids, and have stories. The story of an approval does not
// show the act's body.
func TestASearchFindsWhatWaitsAtACompany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{}, false)
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		const bulk, approval = "0199c1f2-7b1e-7c0a-9d3e-00000000000b", "0199c1f2-7b1e-7c0a-9d3e-00000000000c"
		write := func(query string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), query, args...)
			must(t, err)
		}
		write(`INSERT INTO payout_bulk (company_id, id, state, settlement_id, provider, credentials, created_at, expires_at, checked_at, confirmed_at, send_until, ended_at)
			VALUES ($1, $2, 'CONFIRMED', 1, 'bank', 1, 1000000, 9000000, 2000000, 3000000, 9000000, 0)`, w.company, bulk)
		for i, l := range []struct{ reference, verdict string }{{paid[0].Reference, "GOOD"}, {"not-sent", "BAD"}} {
			write(`INSERT INTO payout_bulk_line (company_id, bulk_id, line, verdict, reference, bank_code, account_number, amount_kobo, narration, external_reference, metadata, bank_name, account_name, session, named_at, attempts, reason)
				VALUES ($1, $2, $3, $4, $5, '000013', '0123456789', 150050, '', '', '', '', '', '', 0, 0, '')`, w.company, bulk, i+1, l.verdict, l.reference)
		}
		write(`INSERT INTO company_approval (company_id, id, kind, body, state, asked_by, created_at, expires_at, first_by, decided_by, decided_at, mac)
			VALUES ($1, $2, 'sendPayout', '{"accountNumber":"0123456789"}', 'APPROVED', 'key:k1', 1000000, 9000000, 'person:ada', 'person:bola', 2000000, '')`, w.company, approval)
		for text, want := range map[string][]string{bulk: {"bulk payout " + bulk, "payout " + paid[0].Reference}, approval: {"approval " + approval}} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
		y, err := w.Timeline(t.Context(), bulk)
		must(t, err)
		if y.Kind != "bulk payout" || y.Company != w.company || y.Amount != 3001_00 || y.Counterparty != "2 lines" || y.State != "CONFIRMED" || !strings.Contains(texts(y), "1 lines good, 1 bad") {
			t.Errorf("%+v", y)
		}
		y, err = w.Timeline(t.Context(), approval)
		must(t, err)
		if all := texts(y); y.Kind != "approval" || y.State != "APPROVED" || !strings.Contains(all, "asked for by key:k1") || !strings.Contains(all, "APPROVED by person:bola, after person:ada") || strings.Contains(all, "0123456789") {
			t.Errorf("%+v", y)
		}
	})
}

// The people of companies and the operators are found by the beginnings of their names, as long as they can
// sign in.
func TestASearchFindsPeopleWhoSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for i, p := range []struct{ name, state string }{{"ngozi.eze", "ACTIVE"}, {"ngozika", "ENDED"}, {"bola", "ACTIVE"}} {
			_, err := d.Exec(t.Context(), `INSERT INTO person (company, id, name, role, state, created_at, mac) VALUES ($1, $2, $3, 'owner', $4, 1, '')`, w.company, fmt.Sprint("p", i), p.name, p.state)
			must(t, err)
		}
		_, err := d.Exec(t.Context(), `INSERT INTO operator_key (id, name, hash, state, created_at) VALUES ('o1', 'ngozi', 'h', 'ACTIVE', 1)`)
		must(t, err)
		_, err = d.Exec(t.Context(), `INSERT INTO person (company, id, name, role, state, created_at, mac) VALUES ($1, 'p9', 'ada@example.com', 'owner', 'ACTIVE', 1, '')`, w.company)
		must(t, err)
		for text, want := range map[string][]string{"Ngozi": {"operator o1", "person p0"}, "ngozi.e": {"person p0"}, "Ada@Example.com": {"person p9"}, "ozi.": nil, "%ngo": nil} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
		}
	})
}

// A short reference has the form of many names. So a text of this form finds companies by both, and people.
func TestAShortReferenceIsLookedForAmongNamesToo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		add := func(reference, name string) {
			t.Helper()
			_, err := d.Exec(t.Context(), `INSERT INTO company (company_id, name, kyb_status, live, created_at, updated_at) VALUES ($1, $2, 'APPROVED', 1, 1, 1)`, reference, name)
			must(t, err)
		}
		add("c3v7k2m9x4", "Acme Ltd")
		add("c000000000000000000000001", "Compass247")
		_, err := d.Exec(t.Context(), `INSERT INTO operator_key (id, name, hash, state, created_at) VALUES ('o1', 'chinedu123', 'h', 'ACTIVE', 1)`)
		must(t, err)
		for text, want := range map[string][]string{
			"c3v7k2m9x4": {"company c3v7k2m9x4"}, "C3V7K2M9X4": {"company c3v7k2m9x4"}, "c3v7k2m9x5": nil,
			"c000000000000000000000001": {"company c000000000000000000000001"}, "compass247": {"company c000000000000000000000001"}, "chinedu123": {"operator o1"},
		} {
			if got := w.found(text); !slices.Equal(got, want) {
				t.Errorf("%q: %v, not %v", text, got, want)
			}
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

// The gauge has the highest number of an operator since midnight in Lagos, which is 23:00 UTC.
func TestRevealsOfOneOperatorAreCountedByTheDay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		midnight := time.Date(2030, 1, 1, 23, 0, 0, 0, time.UTC)
		for i, line := range []struct {
			by, action string
			at         time.Time
		}{
			{"ada", "customer.reveal", midnight},
			{"ada", "customer.reveal", midnight.Add(time.Hour)},
			{"bob", "customer.reveal", midnight.Add(time.Hour)},
			{"ada", "read.search", midnight.Add(time.Hour)},
			{"bob", "customer.reveal", midnight.Add(-time.Second)},
			{"bob", "customer.reveal", midnight.Add(-time.Hour)},
		} {
			_, err := d.Exec(t.Context(), `INSERT INTO operator_audit (company_id, id, operator, action, subject, created_at, details)
				VALUES ('', $1, $2, $3, 'c1', $4, '{}')`, fmt.Sprint("line-", i), line.by, line.action, line.at.UnixMicro())
			must(t, err)
		}
		if got := gathered(t, d, midnight.Add(2*time.Hour))["reveals_of_one_operator"]; got != 2 {
			t.Errorf("%v", got)
		}
	})
}
