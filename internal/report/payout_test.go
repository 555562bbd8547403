package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// send adds a payout with this outcome. If old is true, the row is one of a schema before 97.
func (w *world) send(company string, account int64, outcome provider.Outcome, labels operation.Labels, old bool) {
	w.t.Helper()
	o := w.operations.Start(operation.Operation{
		Company: company, Kind: payout.Kind, Provider: "bank", SettlementID: account, Amount: 100_00, Fee: 10_00, Labels: labels,
	})
	must(w.t, w.book.Commit(w.t.Context(), w.operations.Unit(o, 0, "a payout")))
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO payout_verification (company_id, id, settlement_id, provider, bank_code, bank_name, account_number,
		account_name, session, created_at) VALUES ($1, $2, $3, 'bank', '000014', '', '0123456789', 'ADA OBI', '', $4)`,
		company, o.ID, account, clock.Micros(o.CreatedAt))
	must(w.t, err)
	if old {
		account = 0
	}
	_, err = w.db.Exec(w.t.Context(), `INSERT INTO payout (company_id, id, narration, session, created_at, settlement_id) VALUES ($1, $2, '', '', $3, $4)`,
		company, o.ID, clock.Micros(o.CreatedAt), account)
	must(w.t, err)
	_, err = w.operations.Run(w.t.Context(), o, func(context.Context) provider.Answer { return provider.Answer{Outcome: outcome} }, nil)
	must(w.t, err)
}

// The total count of a list of payouts is exact under every filter, and its pages together contain
// exactly the payouts that match the filter, newest first.
func TestPayoutsAreListedExactly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_000_00, "float")
		w.fund(w.other, 1_000_000_00, "float")
		outcomes := []provider.Outcome{provider.Confirmed, provider.Rejected, provider.Unknown, provider.Confirmed, provider.Confirmed}
		metadata := []operation.Metadata{"", `{"branch":"Ikeja"}`, `{"branch":"Ikeja","month":"May"}`, `{"branch":"Yaba"}`}
		for i := range 60 {
			l := operation.Labels{Metadata: metadata[i%4]}
			if i == 17 {
				l.ExternalReference = "order-17"
			}
			w.send(w.company, []int64{w.main, w.other, w.main}[i%3], outcomes[i%5], l, i%7 == 0)
			w.clock.Advance(time.Minute)
		}
		whole, total, err := w.Payouts(t.Context(), w.company, report.PayoutFilter{}, 0, 100)
		must(t, err)
		if total != 60 || len(whole) != 60 || !slices.IsSortedFunc(whole, func(a, b payout.Payout) int { return b.CreatedAt.Compare(a.CreatedAt.Time) }) {
			t.Fatalf("%d payouts of %d", len(whole), total)
		}
		for _, labels := range []map[string]string{nil, {"branch": "Ikeja"}, {"branch": "Ikeja", "month": "May"}, {"": "order-17"}, {"branch": "Lekki"}} {
			for _, status := range []string{"", "PENDING", "SUCCESS", "FAILED", "REVERSED"} {
				for _, account := range []int64{0, w.main, w.other} {
					for _, from := range []time.Time{{}, firstDay.Add(20 * time.Minute)} {
						for _, to := range []time.Time{{}, firstDay.Add(41 * time.Minute)} {
							w.listed(whole, labels, report.PayoutFilter{Status: status, SettlementID: account, From: from, To: to})
						}
					}
				}
			}
		}
		if _, total, err := w.Payouts(t.Context(), "another company", report.PayoutFilter{Marks: []string{operation.Mark(payout.Kind, "branch", "Ikeja")}}, 0, 10); err != nil || total != 0 {
			t.Errorf("another company lists %d, %v", total, err)
		}
	})
}

// listed compares a filtered list with the payouts of the whole list that match the filter.
func (w *world) listed(whole []payout.Payout, labels map[string]string, f report.PayoutFilter) {
	w.t.Helper()
	var want []string
	for _, p := range whole {
		has := true
		for key, value := range labels {
			if key == "" {
				has = has && p.ExternalReference == value
			} else {
				has = has && strings.Contains(string(p.Metadata), `"`+key+`":"`+value+`"`)
			}
		}
		if has && (f.Status == "" || f.Status == string(p.Status)) && (f.SettlementID == 0 || f.SettlementID == p.SettlementID) &&
			!p.CreatedAt.Before(f.From) && (f.To.IsZero() || p.CreatedAt.Before(f.To)) {
			want = append(want, p.Reference)
		}
	}
	for key, value := range labels {
		f.Marks = append(f.Marks, operation.Mark(payout.Kind, key, value))
	}
	var got []string
	for offset := 0; ; offset += 7 {
		page, total, err := w.Payouts(w.t.Context(), w.company, f, offset, 7)
		must(w.t, err)
		if total != len(want) {
			w.t.Fatalf("%+v: a total of %d, not %d", f, total, len(want))
		}
		for _, p := range page {
			got = append(got, p.Reference)
		}
		if len(page) < 7 {
			break
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%+v: %s\nwant %s", f, got, want)
	}
}

// Each format of a statement shows the labels of an operation.
func TestStatementsShowTheLabels(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1000_00, "float")
		w.send(w.company, w.main, provider.Confirmed, operation.Labels{ExternalReference: "=order-17", Metadata: `{"branch":"Ikeja"}`}, false)
		w.clock.Advance(time.Hour)
		s := w.statement(time.Time{}, time.Time{})
		var out bytes.Buffer
		must(t, s.CSV(t.Context(), &out))
		rows, err := csv.NewReader(&out).ReadAll()
		must(t, err)
		book, err := workbook(t, s, 1<<20).GetRows("Statement")
		must(t, err)
		if r := rows[3]; r[9] != "'=order-17" || r[10] != `{"branch":"Ikeja"}` {
			t.Errorf("csv: %q", r)
		}
		if r := book[len(book)-2]; r[8] != "=order-17" || r[9] != `{"branch":"Ikeja"}` {
			t.Errorf("xlsx: %q", r)
		}
		if text := printed(t, s); !strings.Contains(text, `=order-17 {"branch":"Ikeja"}`) {
			t.Errorf("pdf: %s", text)
		}
	})
}
