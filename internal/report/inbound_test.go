package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
)

// The list of credits has each credit of the company once, newest first, whichever account received it. Its filters select
// exactly those that match, and another company has none of them.
func TestCreditsAreListedExactly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		began := w.clock.Now()
		for n := range 30 {
			w.receive([]int64{w.main, w.other}[n%2], 500_00, "BOLA SAMPLE")
			if n%3 > 0 { // several credits have the same instant
				w.clock.Advance(time.Minute)
			}
		}
		_, err := d.Exec(t.Context(), `INSERT INTO customer (company_id, id, number, first_name, middle_name, last_name, email, phone_number,
			date_of_birth, address, search, status, created_at, updated_at) VALUES ($1, 'c1', 1, 'Ngozi', '', 'Okafor', '', '', '', '', '', 'ACTIVE', 1, 1)`, w.company)
		must(t, err)
		_, err = d.Exec(t.Context(), `INSERT INTO customer_transaction (company_id, number, id, customer_id, settlement_id, amount_kobo, kind, status, narration, session_id, created_at)
			SELECT company_id, 1, id, 'c1', settlement_id, amount_kobo, 'CREDIT', 'SUCCESS', '', session_id, created_at FROM settlement_credit
			WHERE company_id = $1 ORDER BY created_at, id LIMIT 1`, w.company)
		must(t, err)
		list := func(company string, f report.CreditFilter) (all []report.Credit) {
			t.Helper()
			for page := range 100 {
				some, total, err := w.Credits(t.Context(), company, f, page*7, 7)
				must(t, err)
				if all = append(all, some...); len(all) == total {
					return all
				}
				if len(some) == 0 {
					t.Fatalf("%d of %d", len(all), total)
				}
			}
			t.Fatal("the pages have no end")
			return nil
		}
		whole := list(w.company, report.CreditFilter{})
		seen := map[string]bool{}
		for n, c := range whole {
			if seen[c.ID] || n > 0 && c.CreatedAt.After(whole[n-1].CreatedAt) {
				t.Errorf("%d: %v", n, c)
			}
			seen[c.ID] = true
		}
		if len(whole) != 30 {
			t.Errorf("%d credits", len(whole))
		}
		last := whole[29]
		if last.Receiver != report.ToCustomer || last.Customer.FirstName != "Ngozi" || last.Sender.Name != "BOLA SAMPLE" || whole[0].Receiver != report.ToSettlement || whole[0].Customer.ID != "" {
			t.Errorf("%+v %+v", last, whole[0])
		}
		middle := began.Add(10 * time.Minute)
		for n, c := range map[string]struct {
			filter report.CreditFilter
			passes func(report.Credit) bool
		}{
			"account":   {report.CreditFilter{SettlementID: w.other}, func(c report.Credit) bool { return c.SettlementID == w.other }},
			"customers": {report.CreditFilter{Receiver: report.ToCustomer}, func(c report.Credit) bool { return c.ID == last.ID }},
			"own":       {report.CreditFilter{Receiver: report.ToSettlement, To: middle}, func(c report.Credit) bool { return c.ID != last.ID && c.CreatedAt.Before(middle) }},
			"virtual":   {report.CreditFilter{Receiver: report.ToVirtualAccount}, func(report.Credit) bool { return false }},
			"since":     {report.CreditFilter{From: middle}, func(c report.Credit) bool { return !c.CreatedAt.Before(middle) }},
		} {
			want := 0
			for _, c := range list(w.company, c.filter) {
				if want++; !seen[c.ID] {
					t.Errorf("%s: %v", n, c)
				}
			}
			for _, one := range whole {
				if c.passes(one) {
					want--
				}
			}
			if want != 0 {
				t.Errorf("%s: %d too many", n, want)
			}
		}
		if others := list("cnobody0000000000000000000", report.CreditFilter{}); len(others) != 0 {
			t.Errorf("%v", others)
		}
		one, err := w.Credit(t.Context(), w.company, last.ID)
		if err != nil || one != last {
			t.Errorf("%+v %v", one, err)
		}
		if _, err := w.Credit(t.Context(), "cnobody0000000000000000000", last.ID); !fault.Is(err, fault.Missing) {
			t.Error(err)
		}
	})
}
