package report_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
)

// Pages of comparisons have each comparison once, also if comparisons arrive between two pages.
func TestComparisonsArePagedByCursor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		reports, n := report.New(d, clk), 0
		add := func(bank string) {
			n++
			if err := reports.NotReconciled(t.Context(), bank, fmt.Errorf("comparison %c", 'a'+n)); err != nil {
				t.Fatal(err)
			}
		}
		walked := func(bank string, size int, meanwhile func()) (out []string) {
			for after := ""; ; meanwhile() {
				page, err := reports.RunsAfter(t.Context(), bank, after, size)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page {
					out, after = append(out, r.Trouble), r.Cursor()
				}
				if len(page) < size {
					return out
				}
			}
		}
		for i := range 9 {
			add([]string{"main", "main", "spare"}[i%3])
		}
		for _, bank := range []string{"", "main", "spare", "nobody"} {
			numbered, total, err := reports.Runs(t.Context(), bank, 100, 0)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, r := range numbered {
				want = append(want, r.Trouble)
			}
			for _, size := range []int{1, 2, 3, 100} {
				if got := walked(bank, size, func() {}); !slices.Equal(got, want) || int64(len(got)) != total {
					t.Errorf("%q, %d a page: %q; want %q", bank, size, got, want)
				}
			}
			if got := walked(bank, 2, func() { add("main") }); !slices.Equal(got, want) {
				t.Errorf("%q, while comparisons arrive: %q; want %q", bank, got, want)
			}
		}
		if page, err := reports.RunsAfter(t.Context(), "", "x", 10); !fault.Is(err, fault.Invalid) || page != nil {
			t.Errorf("a wrong cursor: %d comparisons, %v", len(page), err)
		}
	})
}

// A comparison by a clock that was ahead says nothing about the days after the true time, so it does not count.
func TestAComparisonInTheFutureDoesNotCount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const ahead = 10 * 24 * time.Hour
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		reports := report.New(d, clk)
		began := clk.Now()
		last := func(bank string, want time.Time) {
			t.Helper()
			if got, err := reports.ComparedAt(t.Context(), bank); err != nil || !got.Equal(want) {
				t.Errorf("%s was last compared at %s, %v; want %s", bank, got, err, want)
			}
		}
		day := func(began time.Time) (days []report.BankDay) {
			t.Helper()
			r := report.Reconciliation{Bank: "main", From: began, To: clk.Now(), Days: []report.StatementDay{{Began: began}}}
			must(t, reports.Reconciled(t.Context(), r))
			days, err := reports.BankDays(t.Context(), "main", time.Date(2030, 1, 1, 0, 0, 0, 0, clock.Lagos), time.Date(2030, 1, 20, 0, 0, 0, 0, clock.Lagos))
			must(t, err)
			return days
		}
		day(time.Date(2030, 1, 1, 0, 0, 0, 0, clock.Lagos))
		last("main", began)
		clk.Jump(ahead)
		must(t, reports.AwaitReconciliation(t.Context(), "spare"))
		day(time.Date(2030, 1, 11, 0, 0, 0, 0, clock.Lagos))
		_, err := d.Exec(t.Context(), `UPDATE report_run SET id = 'f' || substr(id, 2) WHERE created_at > $1`, clock.Micros(began)) // an id begins with the time
		must(t, err)
		clk.Jump(-ahead)
		clk.Advance(time.Hour)
		must(t, reports.NotReconciled(t.Context(), "main", errors.New("no answer")))
		if o, err := reports.Overview(t.Context()); err != nil || len(o.Runs) != 1 || o.Runs[0].Trouble != "no answer" {
			t.Errorf("the last comparisons: %+v, %v", o.Runs, err)
		}
		last("main", began)
		last("spare", time.Unix(0, 0))
		last("other", time.Time{})
		if days := day(time.Date(2030, 1, 1, 0, 0, 0, 0, clock.Lagos)); len(days) != 1 {
			t.Errorf("days: %+v", days)
		}
		last("main", began.Add(time.Hour))
	})
}
