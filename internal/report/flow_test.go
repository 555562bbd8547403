package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// The flows of each day agree with the balances of the days, and with the totals of the statement of the day. A second call has
// what came meanwhile too.
func TestFlowsOfDaysAgreeWithStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fortnight()
		moved := 0
		agree := func() money.Kobo {
			t.Helper()
			list, isWhole, err := w.DayFlows(t.Context(), w.company, w.main, 30)
			must(t, err)
			if !isWhole || len(list) < 14 || list[len(list)-1].Day.In(clock.Lagos).Format(time.DateOnly) != w.clock.Now().In(clock.Lagos).Format(time.DateOnly) {
				t.Fatalf("%v %+v", isWhole, list)
			}
			for _, f := range list {
				s, err := w.Statement(t.Context(), w.company, w.main, f.Day, f.Day.AddDate(0, 0, 1))
				must(t, err)
				if f.In != s.Credits || f.Out != s.Debits {
					t.Errorf("%s: %s in and %s out, and the statement has %s and %s", f.Day, f.In, f.Out, s.Credits, s.Debits)
				}
				if f.In > 0 && f.Out > 0 {
					moved++
				}
			}
			return list[len(list)-1].In
		}
		before := agree()
		w.fund(w.main, 12_345, "more")
		w.clock.Advance(time.Minute)
		if after := agree(); after != before+12_345 || moved == 0 {
			t.Errorf("%s came in before, and %s after a credit; %d days with both", before, after, moved)
		}
		w.clock.Advance(24 * time.Hour) // the running day becomes a whole one
		agree()
		if _, _, err := w.DayFlows(t.Context(), "another", w.main, 3); !fault.Is(err, fault.Missing) {
			t.Errorf("another company: %v", err)
		}
	})
}

// A call that may add up fewer entries than there are leaves the older days out, and the next calls go on.
func TestFlowsOfDaysGoOnWhereTheyStopped(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight()
	want, _, err := w.DayFlows(t.Context(), w.company, w.main, 30)
	must(t, err)
	fresh := report.New(w.db, w.clock)
	fresh.FlowsAtMost(3)
	for calls, days := 0, 0; ; calls++ {
		list, isWhole, err := fresh.DayFlows(t.Context(), w.company, w.main, 30)
		must(t, err)
		if len(list) < days || len(list) > len(want) || calls > 1000 {
			t.Fatalf("%d days after %d", len(list), days)
		}
		for i, f := range list {
			if f != want[len(want)-len(list)+i] {
				t.Errorf("%+v, want %+v", f, want[len(want)-len(list)+i])
			}
		}
		if days = len(list); isWhole {
			if calls < 3 || days != len(want) {
				t.Errorf("%d days after %d calls", days, calls)
			}
			return
		}
	}
}
