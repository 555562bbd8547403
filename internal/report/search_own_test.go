package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// A company finds its own things by the words that somebody reads out. The same words do not find another company's things.
func TestACompanySearchesItsOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{ExternalReference: "order-17"}, false)
		w.plantCustomers()
		paid, _, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 1)
		must(t, err)
		reference, session := paid[0].Reference, strings.Repeat("9", 29)
		write := func(query string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), query, args...)
			must(t, err)
		}
		write(`UPDATE operation SET provider_reference = $1 WHERE company_id = $2 AND id = $3`, session+"1", w.company, reference)
		write(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until) VALUES ('house', 'bank', 1, 1, 0, 0)`)
		write(`INSERT INTO settlement_session (provider, session_id, company_id) VALUES ('bank', $1, $2)`, session+"2", w.company)
		write(`INSERT INTO settlement_credit (company_id, id, provider, session_id, reference, settlement_id, account_number, amount_kobo, sender_name, sender_account, sender_bank, narration, told_at, created_at)
			VALUES ($1, 'credit-1', 'bank', $2, '', 1, '0123456789', 100, 'OBI', '0099887766', 'GTB', '', 1, 1)`, w.company, session+"2")
		write(`INSERT INTO request_log (company_id, id, method, path, status, reason, request_id, idempotency_key, api_key_id, address, body, took_micros, created_at, subject)
			VALUES ($1, '1', 'POST', '/api/v1/x', 200, '', 'req-first', 'key-first', 'k1', '', '', 1, 1, $2)`, w.company, reference)
		write(`INSERT INTO idempotency_key (company_id, value, fingerprint, state, subject, running_until, status, body, created_at) VALUES ($1, 'key-first', '', 'DONE', $2, 0, 200, '', 1)`, w.company, reference)
		address, other, hash := "0xabcdef12"+strings.Repeat("3", 32), "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "beef0042"+strings.Repeat("7", 56)
		for at, of := range map[string]string{address: w.company, other: w.company, "0xabcdef12" + strings.Repeat("4", 32): "somebody"} {
			write(`INSERT INTO crypto_directory (network_id, address, company_id) VALUES ('chain', $1, $2)`, at, of)
		}
		write(`INSERT INTO crypto_transaction (company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter,
			tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at)
			VALUES ($1, 7, 's', 1, 'deposit', 'completed', 'chain', 'ETH', '', 18, '1', $2, '', $3, 1, '', 'c', 0, 0, '{}', 1, 1)`,
			w.company, address, "0x"+hash)
		payout, credit := "payout "+reference, "credit credit-1"
		for text, want := range map[string][]string{
			session + "1": {payout}, session + "2": {credit}, session + "3": nil,
			"order-17": {payout}, "order-1": nil, "req-first": {"request req-first"}, "key-first": {payout},
			"0123456789": {payout, fmt.Sprint("settlement account ", w.main)}, "0099887766": {credit},
			"₦100 0123456789": {payout}, "1.00 0099887766": {credit}, "101.00 0123456789": nil,
			"0803 123 4567": {"customer c-ada"}, "ADA@example.com": {"customer c-ada"}, "kobo_live_x": nil,
			address: {"deposit address " + address}, "0xABCDEF12": {"deposit address " + address}, other: {"deposit address " + other}, other[:8]: {"deposit address " + other}, other[:7]: nil, "0xabcdef13": nil,
			hash: {"deposit 7"}, "0x" + hash: {"deposit 7"}, strings.ToUpper(hash[:8]): {"deposit 7"}, hash[:7]: nil, "0x" + hash[:12]: {"deposit 7"},
		} {
			for company, want := range map[string][]string{w.company: want, "another": nil} {
				hits, more, err := w.SearchOwn(t.Context(), company, report.AskOwn(text))
				var got []string
				for _, h := range hits {
					got = append(got, h.Kind+" "+h.ID)
				}
				if slices.Sort(got); err != nil || more || !slices.Equal(got, want) {
					t.Errorf("%q of %s: %v, want %v; %v %v", text, company, got, want, more, err)
				}
			}
		}
	})
}
