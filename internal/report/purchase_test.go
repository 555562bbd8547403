package report_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// buy adds a purchase with this outcome. If old is true, the row is one of a schema before 46.
func (w *world) buy(kind string, account int64, outcome provider.Outcome, old bool) {
	w.t.Helper()
	o := w.operations.Start(operation.Operation{Company: w.company, Kind: vtu.Kind, Provider: "bank", SettlementID: account, Amount: 100_00})
	must(w.t, w.book.Commit(w.t.Context(), w.operations.Unit(o, 0, "a purchase")))
	if old {
		account = 0
	}
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO vtu_purchase (company_id, id, kind, category_id, product_id, product_name, phone_number,
		card_number, meter_number, verification_id, created_at, settlement_id) VALUES ($1, $2, $3, '', '', '', '', '', '', '', $4, $5)`,
		w.company, o.ID, kind, clock.Micros(o.CreatedAt), account)
	must(w.t, err)
	_, err = w.operations.Run(w.t.Context(), o, func(context.Context) provider.Answer { return provider.Answer{Outcome: outcome} }, nil)
	must(w.t, err)
}

// sells registers purchases with the operations of the test.
func (w *world) sells() {
	w.operations.Handle(vtu.Kind, operation.Kind{
		Route:   settlement.Route,
		Effects: func(context.Context, operation.Operation, *ledger.Unit) error { return nil },
	})
}

// The total count of a list of purchases is exact under every filter, and its pages together contain
// exactly the purchases that match the filter, newest first. No count reads the operation of each purchase, so
// the test compares it with the whole list.
func TestPurchasesAreCountedExactly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.sells()
		w.fund(w.main, 1_000_000_00, "float")
		w.fund(w.other, 1_000_000_00, "float")
		kinds := []string{"DATA", "AIRTIME", "DATA", "UTILITY"}
		outcomes := []provider.Outcome{provider.Confirmed, provider.Rejected, provider.Unknown, provider.Confirmed, provider.Confirmed}
		for i := range 60 {
			w.buy(kinds[i%4], []int64{w.main, w.other, w.main}[i%3], outcomes[i%5], i%7 == 0)
			w.pay(w.main, 50_00, 10_00, outcomes[(i+1)%5], "a payout, which is no purchase")
			w.clock.Advance(time.Minute)
		}
		whole, total, err := w.Purchases(t.Context(), w.company, report.PurchaseFilter{}, 0, 100)
		must(t, err)
		if total != 60 || len(whole) != 60 {
			t.Fatalf("%d purchases of %d", len(whole), total)
		}
		for _, kind := range []string{"", "DATA", "CABLE_TV"} {
			for _, status := range []string{"", "PENDING", "SUCCESS", "FAILED"} {
				for _, account := range []int64{0, w.main, w.other} {
					for _, from := range []time.Time{{}, firstDay.Add(20 * time.Minute)} {
						for _, to := range []time.Time{{}, firstDay.Add(41 * time.Minute)} {
							w.counted(whole, report.PurchaseFilter{Type: kind, Status: status, SettlementID: account, From: from, To: to})
						}
					}
				}
			}
		}
	})
}

// counted compares a filtered list with the purchases of the whole list that match the filter.
func (w *world) counted(whole []vtu.Transaction, f report.PurchaseFilter) {
	w.t.Helper()
	want := ""
	n := 0
	for _, p := range whole {
		if (f.Type == "" || f.Type == string(p.Type)) && (f.Status == "" || f.Status == string(p.Status)) &&
			(f.SettlementID == 0 || f.SettlementID == p.SettlementID) && !p.CreatedAt.Before(f.From) &&
			(f.To.IsZero() || p.CreatedAt.Before(f.To)) {
			want += p.ID + " "
			n++
		}
	}
	got := ""
	for offset := 0; ; offset += 7 {
		page, total, err := w.Purchases(w.t.Context(), w.company, f, offset, 7)
		must(w.t, err)
		if total != n {
			w.t.Fatalf("%+v: a total of %d, not %d", f, total, n)
		}
		for _, p := range page {
			got += p.ID + " "
		}
		if len(page) < 7 {
			break
		}
	}
	if got != want {
		w.t.Errorf("%+v: %s\nwant %s", f, got, want)
	}
}

// A page beyond the depth from which a page is a heavy read is the right one: while all purchases are too new for a
// milestone, from milestones, and after more purchases have come.
func TestADeepPageOfPurchases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.sells()
		must(t, purchased(t.Context(), d, w.company, w.main, firstDay, 12_000))
		total := 12_000
		right := func(offset int) {
			t.Helper()
			page, n, err := w.Purchases(t.Context(), w.company, report.PurchaseFilter{}, offset, 20)
			must(t, err)
			want := []string{}
			for i := total - offset; i > max(0, total-offset-20); i-- {
				want = append(want, fmt.Sprintf("p%d", i))
			}
			got := []string{}
			for _, p := range page {
				got = append(got, p.ID)
			}
			if n != total || !slices.Equal(got, want) {
				t.Errorf("from %d of %d: %v, not %v", offset, n, got, want)
			}
		}
		w.Stride(100)
		for _, offset := range []int{0, 9_999, 10_000, 11_990, 12_000} {
			right(offset)
		}
		if n := w.Milestones(w.company); n != 0 {
			t.Errorf("%d milestones among purchases that may still get one before them", n)
		}
		w.clock.Advance(24 * time.Hour)
		for _, offset := range []int{10_980, 10_981, 10_000, 10_001, 10_100, 11_899, 11_900, 11_901, 11_990, 11_999, 12_000, 12_020} {
			right(offset)
		}
		if n := w.Milestones(w.company); n != 20 {
			t.Errorf("%d milestones up to the 2,000th purchase", n)
		}
		w.buyAgain(12_001, 12_025)
		total = 12_025
		for _, offset := range []int{9_999, 10_000, 10_025, 11_990, 12_024} {
			right(offset)
		}
	})
}

// buyAgain adds purchases with the numbers from one to another, as purchased does, without their operations' entries.
func (w *world) buyAgain(from, to int) {
	w.t.Helper()
	at := firstDay.UnixMicro()
	const numbers = ` WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $2) `
	for _, text := range []string{
		`INSERT INTO operation (company_id, id, kind, idempotency_key, state, provider, settlement_id, amount_kobo, fee_kobo, called_until, polls,
			missing, asked_at, next_at, outcome, code, message, provider_reference, token, created_at, updated_at)` + numbers + `
			SELECT $3, 'p' || i, 'vtu', 'key-' || i, 'SUCCESS', 'bank', 1, 10000, 0, 0, 0, 0, 0, 0, '', '', '', 'r' || i, '', $4 + i * 1000000, $4 + i * 1000000 FROM n`,
		`INSERT INTO vtu_purchase (company_id, id, kind, category_id, product_id, product_name, phone_number, card_number, meter_number,
			verification_id, created_at, settlement_id)` + numbers + `
			SELECT $3, 'p' || i, 'DATA', 'c', 'd', '1 GB', '08000000000', '', '', '', $4 + i * 1000000, 1 FROM n`,
	} {
		_, err := w.db.Exec(w.t.Context(), text, from, to, w.company, at)
		must(w.t, err)
	}
	_, err := w.db.Exec(w.t.Context(), `UPDATE ledger_account SET entry_sequence = $2 WHERE company_id = $1 AND id = 'clearing/vtu'`, w.company, 2*to)
	must(w.t, err)
}

// purchased adds n purchases with their operations, and with the entries of their settlement account. Every
// tenth purchase is FAILED and refunded.
func purchased(ctx context.Context, d *db.DB, company string, settlementID int64, first time.Time, n int) error {
	account, at := settlement.LedgerAccount(settlementID), first.UnixMicro()
	const numbers = ` WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
	for _, s := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO operation (company_id, id, kind, idempotency_key, state, provider, settlement_id, amount_kobo, fee_kobo, called_until, polls,
			missing, asked_at, next_at, outcome, code, message, provider_reference, token, created_at, updated_at)` + numbers + `
			SELECT $2, 'p' || i, 'vtu', 'key-' || i, CASE i % 10 WHEN 0 THEN 'FAILED' ELSE 'SUCCESS' END, 'bank', $3, 10000, 0, 0, 0,
				0, 0, 0, '', '', '', 'r' || i, '', $4 + i * 1000000, $4 + i * 1000000 FROM n`, []any{n, company, settlementID, at}},
		{
			`INSERT INTO vtu_purchase (company_id, id, kind, category_id, product_id, product_name, phone_number, card_number, meter_number,
			verification_id, created_at, settlement_id)` + numbers + `
			SELECT $2, 'p' || i, CASE i % 3 WHEN 0 THEN 'DATA' ELSE 'AIRTIME' END, 'c', 'd', '1 GB', '08000000000', '', '', '', $4 + i * 1000000, $3 FROM n`,
			[]any{n, company, settlementID, at},
		},
		{
			`INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry,
			credit_entry, stamp, created_at)` + numbers + `
			SELECT $2, 'p' || i, '', $3, 'clearing/vtu', 10000, 'vtu', 'a purchase', i + (i - 1) / 10, i, 0, $4 + i * 1000000 FROM n`,
			[]any{n, company, account, at},
		},
		{
			`INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry,
			credit_entry, stamp, created_at)` + numbers + `
			SELECT $2, 'p' || i, 'refund', 'clearing/vtu', $3, 10000, 'vtu', 'Refund', i, i + i / 10, 0, $4 + i * 1000000 FROM n WHERE i % 10 = 0`,
			[]any{n, company, account, at},
		},
		{
			`INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at)` + numbers + `
			SELECT $2, $3, i + (i - 1) / 10, 'p' || i, '', -10000, 10000, 0, $4 + i * 1000000 FROM n
			UNION ALL SELECT $2, $3, i + i / 10, 'p' || i, 'refund', 10000, 0, 10000, $4 + i * 1000000 FROM n WHERE i % 10 = 0`,
			[]any{n, company, account, at},
		},
		{`UPDATE ledger_account SET entry_sequence = $3 WHERE company_id = $1 AND id = $2`, []any{company, account, n + n/10}},
		{`INSERT INTO ledger_account (company_id, id, floor_kobo, alert_kobo, balance_kobo, entry_sequence, created_at)
			VALUES ($1, 'clearing/vtu', 0, 0, 0, $2, 0)
			ON CONFLICT (company_id, id) DO UPDATE SET entry_sequence = excluded.entry_sequence`, []any{company, 2 * n}},
	} {
		if _, err := d.Exec(ctx, s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// Airtime and power have no product, so the timeline and the list of payments name the network or the company of the power.
func TestAPurchaseWithoutAProductHasItsCategory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.sells()
		w.fund(w.main, 1_000_00, "float")
		w.buy("AIRTIME", w.main, provider.Confirmed, false)
		for _, text := range []string{
			`INSERT INTO vtu_service (id, kind, name) VALUES ('s', 'AIRTIME', 'Airtime')`,
			`INSERT INTO vtu_category (id, service_id, provider, code, vendor, name, active, updated_at) VALUES ('c1', 's', 'bank', 'mtn', 'MTN', 'MTN', 1, 0)`,
		} {
			_, err := w.db.Exec(t.Context(), text)
			must(t, err)
		}
		for category, want := range map[string]string{"c1": "MTN airtime", "": "airtime"} {
			_, err := w.db.Exec(t.Context(), `UPDATE vtu_purchase SET category_id = $1, phone_number = '08031234510' WHERE company_id = $2`, category, w.company)
			must(t, err)
			list := w.every(report.PaymentFilter{Kind: "vtu"})
			if len(list) != 1 || list[0].Counterparty != want {
				t.Fatalf("%q: %+v", category, list)
			}
			if y, err := w.Timeline(t.Context(), list[0].Reference); err != nil || !strings.HasPrefix(y.Counterparty, want+", *") {
				t.Errorf("%q: %q, %v", category, y.Counterparty, err)
			}
		}
	})
}
