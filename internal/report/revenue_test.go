package report_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// till books fees and charges as operations do, and adds them up.
type till struct{ *teller }

func openTill(t *testing.T, d *db.DB) till {
	w := till{startTeller(t, d)}
	for _, company := range []string{"acme", "bolt", settlement.House} {
		if company == settlement.House {
			must(t, w.book.Commit(t.Context(), ledger.Found(company)))
		}
		u := ledger.For(company)
		for _, name := range []string{"clearing/payout", "provider/main", "provider/vtpass", "charge/main", "charge/vtpass", "fee", "chargeable"} {
			u.OpenAccounts(ledger.Account{ID: name, Floor: money.NoFloor})
		}
		must(t, w.book.Commit(t.Context(), u))
	}
	return w
}

// books commits a transfer of an operation's step.
func (w till) books(company, operation, step, from, to string, amount money.Kobo) {
	w.t.Helper()
	u := ledger.For(company)
	u.Transfer(ledger.Transfer{Reference: operation, Step: step, Debit: from, Credit: to, Amount: amount, Kind: "x"})
	must(w.t, w.book.Commit(w.t.Context(), u))
}

// adds runs the job to the end of a round.
func (w till) adds() {
	w.t.Helper()
	next, err := w.AddRevenue(w.t.Context())
	if err != nil || next.Sub(w.clock.Now()) != 30*time.Second {
		w.t.Fatal(next, err)
	}
}

func lagosDay(day int) time.Time { return time.Date(2030, 1, day, 0, 0, 0, 0, clock.Lagos) }

// shows fails the test unless these are all lines of a company, or of all if company is "".
func (w till) shows(company string, want map[string]string) {
	w.t.Helper()
	r, err := w.Revenue(w.t.Context(), company, lagosDay(1), lagosDay(30))
	must(w.t, err)
	got, total := map[string]string{}, report.Earned{}
	for _, l := range r.Lines {
		got[strings.TrimSpace(fmt.Sprintf("%s %s %s", l.Day.In(clock.Lagos).Format("02 15:04"), l.Provider, l.Kind))] = said(l.Earned)
		total.Fees, total.FeeCount, total.Cost, total.CostCount = total.Fees+l.Fees, total.FeeCount+l.FeeCount, total.Cost+l.Cost, total.CostCount+l.CostCount
	}
	if !maps.Equal(got, want) || total != r.Total {
		w.t.Errorf("%s: %v\nwant %v; total %v", company, got, want, r.Total)
	}
}

func said(e report.Earned) string {
	return fmt.Sprintf("%d fees %s, %d charges %s, margin %s", e.FeeCount, e.Fees, e.CostCount, e.Cost, e.Margin())
}

// A fee and a charge count on the day in Lagos on which the ledger booked them, with the kind and provider of
// their operation. A returned fee lowers its day, and what a biller took less lowers the cost.
func TestFeesAndChargesCountOnTheirDay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := openTill(t, d)
		w.begins("acme", "payout", "p1", "main", 100_00)
		w.begins("acme", "payout", "p2", "main", 100_00)
		w.begins("acme", "vtu", "v1", "vtpass", 100_00)
		w.begins("bolt", "payout", "p1", "main", 100_00)
		w.clock.Advance(time.Date(2030, 1, 9, 22, 59, 59, 999_000_000, time.UTC).Sub(w.clock.Now())) // the last second of the 9th in Lagos
		w.books("acme", "p1", "settle-fee", "clearing/payout", "fee", 25_00)
		w.books("acme", "p1", "charge", "charge/main", "provider/main", 10_75)
		w.books("acme", "x", "", "clearing/payout", "chargeable", 9_00)
		w.clock.Advance(time.Millisecond)
		w.books("acme", "p2", "settle-fee", "clearing/payout", "fee", 25_00)
		w.books("bolt", "p1", "settle-fee", "clearing/payout", "fee", 5_00)
		w.books("acme", "v1", "charge", "provider/vtpass", "charge/vtpass", 3_00)
		w.books(settlement.House, "main 2030-01-05", "case", "charge/main", "provider/main", 50_00)
		w.adds()
		acme := map[string]string{
			"09 00:00 main payout": "1 fees ₦25.00, 1 charges ₦10.75, margin ₦14.25",
			"10 00:00 main payout": "1 fees ₦25.00, 0 charges ₦0.00, margin ₦25.00",
			"10 00:00 vtpass vtu":  "0 fees ₦0.00, 1 charges ₦-3.00, margin ₦3.00",
		}
		w.shows("acme", acme)
		w.shows("bolt", map[string]string{"10 00:00 main payout": "1 fees ₦5.00, 0 charges ₦0.00, margin ₦5.00"})
		w.shows(settlement.House, map[string]string{"10 00:00 main": "0 fees ₦0.00, 1 charges ₦50.00, margin ₦-50.00"})
		all := maps.Clone(acme)
		all["10 00:00 main payout"] = "2 fees ₦30.00, 0 charges ₦0.00, margin ₦30.00"
		all["10 00:00 main"] = "0 fees ₦0.00, 1 charges ₦50.00, margin ₦-50.00"
		w.shows("", all)
		w.adds()
		w.shows("", all)

		w.clock.Advance(48 * time.Hour)
		w.books("acme", "p1", "reverse-fee", "fee", "clearing/payout", 25_00)
		w.adds()
		acme["12 00:00 main payout"] = "-1 fees ₦-25.00, 0 charges ₦0.00, margin ₦-25.00"
		w.shows("acme", acme)
		r, err := w.Revenue(t.Context(), "", lagosDay(1), lagosDay(30))
		must(t, err)
		if !r.ReadAt.Equal(w.clock.Now()) {
			t.Error(r.ReadAt)
		}
		for account, want := range map[string]money.Kobo{"fee": 25_00, "charge/main": -10_75, "charge/vtpass": 3_00} {
			if got, err := w.book.Balance(t.Context(), "acme", account); err != nil || got != want {
				t.Errorf("%s: %s %v", account, got, err)
			}
		}
		page, next, err := w.RevenueByCompany(t.Context(), lagosDay(10), lagosDay(13), "")
		must(t, err)
		text, err := json.Marshal(page)
		must(t, err)
		if want := `[{"Company":"acme","Name":"","Fees":0,"FeeCount":0,"Cost":-3,"CostCount":1},{"Company":"bolt","Name":"","Fees":5,"FeeCount":1,"Cost":0,"CostCount":0},{"Company":"house","Name":"","Fees":0,"FeeCount":0,"Cost":50,"CostCount":1}]`; next != "" || string(text) != want {
			t.Errorf("%q %s", next, text)
		}
		lines := 0
		must(t, w.EachRevenue(t.Context(), "", lagosDay(10), lagosDay(13), func(report.CompanyRevenue, report.RevenueLine) error { lines++; return nil }))
		if lines != 5 {
			t.Error(lines)
		}
	})
}

// The days from … to must follow each other, and be at most a year.
func TestAPeriodOfRevenueHasBounds(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	s := report.New(d, clock.At(lagosDay(9)))
	for _, to := range []time.Time{lagosDay(9), lagosDay(8), lagosDay(9).AddDate(0, 0, 367)} {
		_, err := s.Revenue(t.Context(), "", lagosDay(9), to)
		_, _, byCompany := s.RevenueByCompany(t.Context(), lagosDay(9), to, "")
		if err == nil || byCompany == nil {
			t.Error(to, err, byCompany)
		}
	}
	if _, err := s.Revenue(t.Context(), "", lagosDay(9), lagosDay(9).AddDate(0, 0, 366)); err != nil {
		t.Error(err)
	}
}

// A program may die at any statement of the transaction, and its successor adds each entry once.
func TestACrashAddsNoEntryTwice(t *testing.T) {
	for _, table := range []string{"report_revenue", "report_revenue_total", "report_revenue_place"} {
		t.Run(table, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := openTill(t, d)
				w.begins("acme", "payout", "p1", "main", 100_00)
				w.books("acme", "p1", "settle-fee", "clearing/payout", "fee", 25_00)
				move := func(from, to string) {
					t.Helper()
					_, err := d.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to)
					must(t, err)
				}
				move(table, "away")
				if _, err := w.AddRevenue(t.Context()); err == nil {
					t.Fatal("added without the table")
				}
				move("away", table)
				w.shows("", map[string]string{})
				if r, err := w.Revenue(t.Context(), "", lagosDay(1), lagosDay(30)); err != nil || !r.ReadAt.IsZero() {
					t.Error(r.ReadAt, err)
				}
				w.adds()
				w.adds()
				w.shows("", map[string]string{"09 00:00 main payout": "1 fees ₦25.00, 0 charges ₦0.00, margin ₦25.00"})
			})
		})
	}
}

// If two programs have read the same entries, only one of them adds them.
func TestTwoProgramsAddAnEntryOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := openTill(t, d)
		w.begins("acme", "payout", "p1", "main", 100_00)
		w.books("acme", "p1", "settle-fee", "clearing/payout", "fee", 25_00)
		stale, err := report.RevenueWaits(t.Context(), d)
		must(t, err)
		if len(stale) != 1 {
			t.Fatal(stale)
		}
		w.adds()
		if added, err := report.AddStale(t.Context(), w.Service, stale[0]); err != nil || added {
			t.Error(added, err)
		}
		w.shows("acme", map[string]string{"09 00:00 main payout": "1 fees ₦25.00, 0 charges ₦0.00, margin ₦25.00"})
	})
}

// A round goes on behind the last account that it read, and a page of many companies has a cursor.
func TestManyCompaniesAreAddedInPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := openTill(t, d)
		for i := range 120 {
			company := fmt.Sprintf("c%024d", i)
			must(t, w.book.Commit(t.Context(), ledger.Found(company)))
			u := ledger.For(company)
			for _, name := range []string{"clearing/payout", "provider/main", "fee", "charge/main"} {
				u.OpenAccounts(ledger.Account{ID: name, Floor: money.NoFloor})
			}
			must(t, w.book.Commit(t.Context(), u))
			w.books(company, "p", "settle-fee", "clearing/payout", "fee", 1_00)
			w.books(company, "p", "charge", "charge/main", "provider/main", 50)
		}
		for {
			next, err := w.AddRevenue(t.Context())
			must(t, err)
			if next.Sub(w.clock.Now()) == 30*time.Second {
				break
			}
		}
		w.shows("", map[string]string{
			"09 00:00": "120 fees ₦120.00, 0 charges ₦0.00, margin ₦120.00", "09 00:00 main": "0 fees ₦0.00, 120 charges ₦60.00, margin ₦-60.00",
		})
		var names []string
		for after := ""; ; {
			page, next, err := w.RevenueByCompany(t.Context(), lagosDay(9), lagosDay(10), after)
			must(t, err)
			for _, c := range page {
				names = append(names, c.Company)
				if said(c.Earned) != "1 fees ₦1.00, 1 charges ₦0.50, margin ₦0.50" {
					t.Error(c)
				}
			}
			if after = next; after == "" {
				break
			}
		}
		if len(names) != 120 || names[0] != fmt.Sprintf("c%024d", 0) || names[119] != fmt.Sprintf("c%024d", 119) {
			t.Error(names)
		}
	})
}
