package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// The balance of each day is the closing balance of a statement that ends with the day.
func TestBalancesOfDaysAgreeWithStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fortnight()
		w.clock.Advance(50 * time.Hour) // two days without an entry
		list, err := w.DayBalances(t.Context(), w.company, w.main, report.BalanceDays)
		must(t, err)
		moved := map[string]bool{}
		for _, b := range list {
			s, err := w.Statement(t.Context(), w.company, w.main, time.Time{}, b.Day.AddDate(0, 0, 1))
			must(t, err)
			if b.Balance != s.Closing {
				t.Errorf("%s: %s, and the statement closes at %s", b.Day, b.Balance, s.Closing)
			}
			moved[b.Balance.Decimal()] = true
		}
		now, err := w.book.Balance(t.Context(), w.company, settlement.LedgerAccount(w.main))
		must(t, err)
		first, last := list[0].Day.In(clock.Lagos), list[len(list)-1].Day.In(clock.Lagos)
		if len(moved) < 5 || first.Format(time.DateOnly) != firstDay.In(clock.Lagos).Format(time.DateOnly) ||
			last.Format(time.DateOnly) != w.clock.Now().In(clock.Lagos).Format(time.DateOnly) || list[len(list)-1].Balance != now {
			t.Errorf("%d balances from %s to %s: %+v; now %s", len(moved), first, last, list, now)
		}
		few, err := w.DayBalances(t.Context(), w.company, w.main, 3)
		if err != nil || len(few) != 3 || few[0] != list[len(list)-3] {
			t.Errorf("%+v, %v", few, err)
		}
		for _, of := range []struct {
			company string
			account int64
		}{{"another", w.main}, {w.company, w.other + 100}, {w.company, 0}} {
			if list, err := w.DayBalances(t.Context(), of.company, of.account, 3); !fault.Is(err, fault.Missing) || list != nil {
				t.Errorf("%+v: %+v, %v", of, list, err)
			}
		}
	})
}
