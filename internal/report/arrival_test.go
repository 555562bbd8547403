package report_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// emits writes an event with this data.
func (w *teller) emits(company, kind string, data map[string]any) {
	w.t.Helper()
	u := ledger.For(company)
	event.Emit(&u, kind, data)
	must(w.t, w.book.Commit(w.t.Context(), u))
}

// credits writes a credit of a bank. The session is the id with s in front.
func (w *teller) credits(company, id, bank string, settlement int64, amount money.Kobo) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO settlement_credit (company_id, id, session_id, provider, account_number, settlement_id, amount_kobo,
		sender_name, sender_account, sender_bank, narration, reference, told_at, created_at) VALUES ($1, $2, 's' || $3, $4, '0123456789', $5, $6, 'Ada', '', '', '', '', 0, $7)`,
		company, id, id, bank, settlement, int64(amount), clock.Micros(w.clock.Now()))
	must(w.t, err)
}

// arrives writes a deposit on a chain with its first event.
func (w *teller) arrives(company string, number, decimals int64, asset, units string) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO crypto_transaction (company_id, id, seen, attempt, kind, state, network_id, asset, contract, decimals, units, address, counter,
		tx_hash, block_number, block_hash, custody, misses, lost_at, raw, created_at, updated_at)
		VALUES ($1, $2, $3, 1, 'deposit', 'pending', 'ethereum', $4, '', $5, $6, '0xa', '', 'h', 0, '', 'c', 0, 0, '{}', $7, 0)`,
		company, number, fmt.Sprint(number), asset, decimals, units, clock.Micros(w.clock.Now()))
	must(w.t, err)
	w.emits(company, event.CryptoDepositPending, map[string]any{"id": number})
}

// ends writes the outcome of a deposit.
func (w *teller) ends(company string, number int64, state, kind string) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `UPDATE crypto_transaction SET state = $3 WHERE company_id = $1 AND id = $2`, company, number, state)
	must(w.t, err)
	w.emits(company, kind, map[string]any{"id": number})
}

// glance counts, and returns the credits and the deposits of the overview.
func (w *teller) glance() (credits, deposits map[string]string) {
	w.t.Helper()
	_, err := w.CountHours(w.t.Context(), w.feed.Since)
	must(w.t, err)
	w.clock.Advance(5 * time.Second)
	o, err := w.Overview(w.t.Context())
	must(w.t, err)
	credits, deposits = map[string]string{}, map[string]string{}
	for _, h := range o.Hours {
		if h.Kind == "credit" {
			credits[h.Provider+" "+h.Outcome] = fmt.Sprintf("%d of %s", h.Count, h.Amount)
		}
	}
	for _, d := range o.Deposits {
		deposits[d.Provider+" "+d.Asset+" "+d.Outcome] = fmt.Sprintf("%d of %s", d.Count, d.Text())
	}
	return credits, deposits
}

func (w *teller) sees(want map[string]string, got map[string]string) {
	w.t.Helper()
	if !maps.Equal(got, want) {
		w.t.Errorf("%v\nwant %v", got, want)
	}
}

// Credits of settlement accounts, customers and virtual accounts count by bank. One of an unknown account counts as unknown,
// until operators have assigned it: then the company's credit counts.
func TestCreditsCountByBank(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.credits("acme", "c1", "bank", 1, 100_00)
		w.emits("acme", event.SettlementCredit, map[string]any{"id": "c1", "sessionId": "sc1"})
		w.credits("bolt", "c2", "bank", 1, 20_00)
		w.emits("bolt", event.TransactionCredit, map[string]any{"id": "c2", "sessionId": "sc2"})
		_, err := d.Exec(t.Context(), `INSERT INTO collection (company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo, amount_control,
			account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at)
			VALUES ('acme', 'v1', 'e', '', 'SUCCESS', 'second', '', 1, 100, 'Fixed', '', '', '', '', '', 0, 0, 0, 0)`)
		must(t, err)
		w.credits("acme", "c3", "second", 1, 3_00)
		w.credits("acme", "c4", "second", 1, 4_00)
		w.emits("acme", event.VirtualAccountSuccess, map[string]any{"id": "v1", "sessionId": "sc3"})
		w.emits("acme", event.VirtualAccountLatePayment, map[string]any{"id": "v1", "sessionId": "sc4"})
		w.credits("house", "c5", "bank", 0, 5_00)
		credits, _ := w.glance()
		w.sees(map[string]string{"bank paid": "2 of ₦120.00", "second paid": "2 of ₦7.00", "bank unknown": "1 of ₦5.00"}, credits)

		_, err = d.Exec(t.Context(), `INSERT INTO operation_case VALUES ('house', 'k1', 'bank/sc5', 'UNKNOWN_ACCOUNT', 0, '', 0, 'RESOLVED', 'assigned', '', '', 0, '', '', 0, 0, 1, 0, '')`)
		must(t, err)
		w.credits("bolt", "c6", "bank", 1, 5_00)
		w.emits("bolt", event.SettlementCredit, map[string]any{"id": "c6", "sessionId": "sc5"})
		credits, _ = w.glance()
		w.sees(map[string]string{"bank paid": "3 of ₦125.00", "second paid": "2 of ₦7.00"}, credits)
	})
}

// Deposits count by network and asset with exact sums, also above what a number of the database can hold.
func TestDepositsCountByAsset(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.arrives("acme", 1, 18, "ETH", "123000000000000000001")
		w.arrives("acme", 2, 18, "ETH", "10000000000000000000")
		w.arrives("bolt", 1, 18, "ETH", "1000000000000000000")
		w.arrives("bolt", 2, 6, "USDT", "2500000")
		_, deposits := w.glance()
		w.sees(map[string]string{"ethereum ETH unknown": "3 of 134.000000000000000001", "ethereum USDT unknown": "1 of 2.5"}, deposits)
		w.ends("acme", 1, "completed", event.CryptoDepositCompleted)
		w.ends("acme", 2, "failed", event.CryptoDepositFailed)
		w.clock.Advance(time.Hour)
		w.ends("bolt", 2, "completed", event.CryptoDepositCompleted)
		w.arrives("bolt", 3, 8, "USDT", "150000000") // the setting has other decimals by now
		_, deposits = w.glance()
		w.sees(map[string]string{
			"ethereum ETH unknown": "1 of 1", "ethereum ETH paid": "1 of 123.000000000000000001", "ethereum ETH failed": "1 of 10",
			"ethereum USDT paid": "1 of 2.5", "ethereum USDT unknown": "1 of 1.5",
		}, deposits)
		if left, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM report_open`); err != nil || left != 2 {
			t.Error(left, err)
		}
	})
}

// A book whose operations were counted by an earlier program counts its arrivals from eight days back, and no operation twice.
func TestArrivalsCountBesideOldOperations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.credits("acme", "old", "bank", 1, 9_00)
		w.emits("acme", event.SettlementCredit, map[string]any{"id": "old"})
		w.clock.Advance(9 * 24 * time.Hour)
		w.begins("acme", "payout", "p1", "bank", 1_00)
		w.credits("acme", "c1", "bank", 1, 2_00)
		w.emits("acme", event.SettlementCredit, map[string]any{"id": "c1"})
		w.counts(map[string]string{"18 10 payout bank unknown": "1 of ₦1.00", "18 10 credit bank paid": "1 of ₦2.00"})
		_, err := d.Exec(t.Context(), `DELETE FROM report_hour WHERE kind = 'credit'`)
		must(t, err)
		_, err = d.Exec(t.Context(), `UPDATE report_place SET next_arrival = 0`)
		must(t, err)
		w.tells("acme", event.PayoutSuccess, "p1")
		w.counts(map[string]string{"18 10 payout bank paid": "1 of ₦1.00", "18 10 credit bank paid": "1 of ₦2.00"})

		// An earlier program beside this one moves the place of the operations only.
		w.credits("acme", "c2", "bank", 1, 3_00)
		w.emits("acme", event.SettlementCredit, map[string]any{"id": "c2"})
		_, err = d.Exec(t.Context(), `UPDATE report_place SET sequence = (SELECT event_sequence FROM ledger_head WHERE company_id = 'acme') WHERE company_id = 'acme'`)
		must(t, err)
		w.counts(map[string]string{"18 10 payout bank paid": "1 of ₦1.00", "18 10 credit bank paid": "2 of ₦5.00"})
	})
}

// The list of deposits has all that pass its filters, newest first, in pages.
func TestDepositsAreListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		all := []string{}
		for i := range int64(report.PaymentRows + 3) {
			company, number := []string{"c" + fmt.Sprintf("%024d", 1), "c" + fmt.Sprintf("%024d", 2)}[i%2], i/2+1
			if i < 2 {
				must(t, w.book.Commit(t.Context(), ledger.Found(company)))
			}
			w.arrives(company, number, 6, "USDT", "2500000")
			all = append(all, fmt.Sprintf("%s-%d", company, number))
			if i%3 == 0 {
				w.clock.Advance(time.Minute)
			}
		}
		first := all[0]
		w.ends(first[:25], 1, "completed", event.CryptoDepositCompleted)
		list := func(f report.DepositFilter) (out []string) {
			for {
				page, err := w.ListDeposits(t.Context(), f)
				must(t, err)
				for _, l := range page.Deposits {
					out = append(out, l.Reference)
				}
				if f.After = page.Next; f.After == "" {
					return out
				}
			}
		}
		got := list(report.DepositFilter{})
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Errorf("%v\nwant %v", got, all)
		}
		if got := list(report.DepositFilter{State: "completed", Network: "ethereum", Asset: "USDT"}); !slices.Equal(got, []string{first}) {
			t.Error(got)
		}
		if got := list(report.DepositFilter{State: "unconfirmed"}); len(got) != len(all)-1 {
			t.Error(len(got))
		}
		if got := list(report.DepositFilter{Company: first[:25], To: w.clock.Now().Add(-time.Second), From: w.clock.Now().Add(-time.Minute)}); len(got) > 3 {
			t.Error(got)
		}
		for _, none := range []report.DepositFilter{{Network: "tron"}, {Asset: "BTC"}, {State: "failed"}, {From: w.clock.Now().Add(time.Second)}} {
			if got := list(none); len(got) > 0 {
				t.Error(none, got)
			}
		}
		if _, err := w.ListDeposits(t.Context(), report.DepositFilter{After: "x"}); err == nil {
			t.Error("a wrong cursor")
		}
	})
}
