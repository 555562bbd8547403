package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// receive adds a credit. A credit without a settlement account has no owner.
func (w *world) receive(account int64, amount money.Kobo, from string) {
	w.t.Helper()
	now := w.clock.Now().UnixMicro()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO settlement_credit (company_id, id, session_id, provider, account_number, settlement_id, amount_kobo,
		sender_name, sender_account, sender_bank, narration, reference, told_at, created_at) VALUES ($1, $2, $2, 'bank', '0123456789', $3, $4, $5, '', '', '', '', $6, $6)`,
		w.company, id.New(), account, amount, from, now)
	must(w.t, err)
}

// every walks through the pages of a filter.
func (w *world) every(f report.PaymentFilter) (out []report.PaymentLine) {
	w.t.Helper()
	for range 1000 {
		page, err := w.Payments(w.t.Context(), f)
		must(w.t, err)
		if len(page.Payments) > 50 {
			w.t.Errorf("%d rows on a page", len(page.Payments))
		}
		out = append(out, page.Payments...)
		if f.After = page.Next; f.After == "" {
			return out
		}
	}
	w.t.Fatal("the pages have no end")
	return nil
}

func references(list []report.PaymentLine) (out []string) {
	for _, p := range list {
		out = append(out, p.Kind+" "+p.Reference+" "+p.Word)
	}
	return out
}

func isOpen(p report.PaymentLine) bool { return p.State == "PENDING" }

func isUnconfirmed(p report.PaymentLine) bool { return p.State == "PENDING" || p.State == "FAILED" }

// The pages of a filter have each payment that matches once, newest first, however few rows a page looks at.
func TestPaymentsAreListedExactly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_000_00, "float")
		for n := range 70 {
			outcome := []provider.Outcome{provider.Confirmed, provider.Confirmed, provider.Rejected, provider.Confirmed, provider.Unknown}[n%5]
			w.send(w.company, w.main, outcome, operation.Labels{}, false)
			if n%7 == 0 {
				w.receive(int64(n%2), 500_00, fmt.Sprintf("SENDER %d", n))
			}
			if n%3 > 0 { // several payments have the same instant
				w.clock.Advance(time.Minute)
			}
		}
		// The bank has said that it carries out two of them.
		n, err := w.db.Exec(t.Context(), `UPDATE operation SET code = '09' WHERE id IN (SELECT id FROM operation WHERE state = 'PENDING' AND outcome = 'unknown' ORDER BY id LIMIT 2)`)
		if err != nil || n != 2 {
			t.Fatal(n, err)
		}
		w.LookAt(10_000)
		all := w.every(report.PaymentFilter{})
		if slices.IndexFunc(all, func(p report.PaymentLine) bool { return p.Word == "accepted" }) < 0 {
			t.Error("no payment is accepted")
		}
		if len(all) != 80 {
			t.Fatalf("%d payments", len(all))
		}
		if !slices.IsSortedFunc(all, func(a, b report.PaymentLine) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
			t.Error("not newest first")
		}
		middle := all[40].CreatedAt
		for name, c := range map[string]struct {
			filter report.PaymentFilter
			passes func(p report.PaymentLine) bool
		}{
			"all":            {report.PaymentFilter{}, func(report.PaymentLine) bool { return true }},
			"a company":      {report.PaymentFilter{Company: w.company}, func(p report.PaymentLine) bool { return p.Company == w.company }},
			"another":        {report.PaymentFilter{Company: "c" + id.Cuid()[1:]}, func(report.PaymentLine) bool { return false }},
			"payouts":        {report.PaymentFilter{Kind: "payout"}, func(p report.PaymentLine) bool { return p.Kind == "payout" }},
			"credits":        {report.PaymentFilter{Kind: "credit", Company: w.company}, func(p report.PaymentLine) bool { return p.Kind == "credit" }},
			"paid":           {report.PaymentFilter{Word: "paid"}, func(p report.PaymentLine) bool { return p.Word == "paid" }},
			"failed":         {report.PaymentFilter{Word: "failed", Company: w.company}, func(p report.PaymentLine) bool { return p.Word == "failed" }},
			"unknown":        {report.PaymentFilter{Word: "unknown"}, func(p report.PaymentLine) bool { return p.Word == "unknown" || p.Word == "accepted" }},
			"accepted":       {report.PaymentFilter{Word: "accepted"}, func(p report.PaymentLine) bool { return p.Word == "accepted" }},
			"open":           {report.PaymentFilter{Word: "open"}, isOpen},
			"open here":      {report.PaymentFilter{Word: "open", Company: w.company, From: middle}, func(p report.PaymentLine) bool { return isOpen(p) && !p.CreatedAt.Before(middle) }},
			"unsettled":      {report.PaymentFilter{Word: "unconfirmed"}, isUnconfirmed},
			"unsettled here": {report.PaymentFilter{Word: "unconfirmed", Company: w.company, Kind: "payout"}, isUnconfirmed},
			"sending":        {report.PaymentFilter{Word: "sending"}, func(p report.PaymentLine) bool { return p.Word == "sending" }},
			"ownerless":      {report.PaymentFilter{Word: "ownerless"}, func(p report.PaymentLine) bool { return p.Word == "ownerless" }},
			"a provider":     {report.PaymentFilter{Provider: "nobody"}, func(report.PaymentLine) bool { return false }},
			"amounts":        {report.PaymentFilter{Least: 200_00, Most: 500_00}, func(p report.PaymentLine) bool { return p.Amount >= 200_00 && p.Amount <= 500_00 }},
			"since":          {report.PaymentFilter{From: middle}, func(p report.PaymentLine) bool { return !p.CreatedAt.Before(middle) }},
			"until":          {report.PaymentFilter{To: middle, Word: "failed"}, func(p report.PaymentLine) bool { return p.CreatedAt.Before(middle) && p.Word == "failed" }},
		} {
			var want []report.PaymentLine
			for _, p := range all {
				if c.passes(p) {
					want = append(want, p)
				}
			}
			for _, look := range []int64{10_000, 7, 51} {
				if w.LookAt(look); !slices.Equal(references(w.every(c.filter)), references(want)) {
					t.Errorf("%s, looking at %d rows: %d payments, not %d", name, look, len(w.every(c.filter)), len(want))
				}
			}
		}
	})
}

func TestAPaymentInTheListHasItsCaseAndItsNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_00, "float")
		w.send(w.company, w.main, provider.Unknown, operation.Labels{}, false)
		line := w.every(report.PaymentFilter{})[0]
		if line.Counterparty != "ADA OBI, " || line.Amount != 100_00 || line.Fee != 10_00 || line.Provider != "bank" || line.NextAt.IsZero() || line.Word != "unknown" {
			t.Errorf("%+v", line)
		}
		_, err := w.db.Exec(t.Context(), `INSERT INTO operation_case (company_id, id, subject, reason, detail, state, amount_kobo, outcome, note, target_company,
			target_settlement, proposed_by, proposed_at, resolved_by, turn, happened_at, created_at, updated_at)
			VALUES ($1, $2, $3, 'UNRESOLVED', '', 'OPEN', 0, '', '', '', 0, '', 0, '', 1, 0, 0, 0)`, w.company, id.New(), line.Reference)
		must(t, err)
		for word, want := range map[string]int{"case": 1, "unknown": 0, "": 1} {
			if got := w.every(report.PaymentFilter{Word: word}); len(got) != want || want == 1 && got[0].Word != "case" {
				t.Errorf("%q: %+v", word, got)
			}
		}
		about := func(company, subject string) operation.Case {
			return operation.Case{Company: company, Subject: subject}
		}
		lines, err := w.CaseLines(t.Context(), []operation.Case{
			about("house", "bank/090001"), about(w.company, line.Reference), about(w.company, "settlement/1"), about("another", line.Reference),
		})
		must(t, err)
		for i, want := range []string{"", line.CompanyName, line.CompanyName, ""} {
			if got := lines[i]; got.CompanyName != want || (got.Payment != nil) != (i == 1) {
				t.Errorf("case %d: %+v", i, got)
			}
		}
		if p := lines[1].Payment; line.CompanyName == "" || p == nil || p.Reference != line.Reference || p.Word != "case" || p.Counterparty != line.Counterparty {
			t.Errorf("the payment of a case: %+v", p)
		}
		if none, err := w.CaseLines(t.Context(), nil); err != nil || len(none) != 0 {
			t.Error(none, err)
		}
		// A bank's own id is no session ID.
		for theirs, session := range map[string]string{"64f0c2a9e1b2c3d4e5f60718": "", "999240300102030405123456789012": "999240300102030405123456789012"} {
			_, err := w.db.Exec(t.Context(), `UPDATE operation SET provider_reference = $1 WHERE company_id = $2 AND id = $3`, theirs, w.company, line.Reference)
			must(t, err)
			if got := w.every(report.PaymentFilter{})[0].SessionID; got != session {
				t.Errorf("the session of %s is %q", theirs, got)
			}
		}
		for _, wrong := range []string{"x", "MTIz", "eC94", "!"} {
			if _, err := w.Payments(t.Context(), report.PaymentFilter{After: wrong}); !fault.Is(err, fault.Invalid) {
				t.Errorf("the cursor %q: %v", wrong, err)
			}
		}
	})
}
