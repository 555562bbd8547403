package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// random adds entries at random instants of about two weeks, some of them close to midnight in Lagos.
func (w *world) random(r *rand.Rand) {
	w.fund(w.main, 50_000_00, "first")
	for i := range 60 {
		amount, fee := money.Kobo(1+r.Int64N(400_00)), money.Kobo(r.Int64N(30_00))
		switch r.IntN(5) {
		case 0:
			w.fund(w.main, amount, fmt.Sprint("in ", i))
		case 1:
			w.pay(w.main, amount, fee, provider.Confirmed, "out")
		case 2:
			w.pay(w.main, amount, fee, provider.Rejected, "refused")
		case 3:
			w.returned(w.main, amount, fee+1)
		case 4:
			w.fund(w.other, amount, "elsewhere")
		}
		if r.IntN(4) == 0 {
			midnight := day(w.clock.Now()).AddDate(0, 0, 1)
			w.clock.Advance(midnight.Sub(w.clock.Now()) + time.Duration(r.IntN(3)-1)*time.Microsecond)
		} else {
			w.clock.Advance(time.Duration(1 + r.Int64N(int64(8*time.Hour))))
		}
	}
}

// day returns the midnight in Lagos that begins an instant's day.
func day(at time.Time) time.Time {
	year, month, number := at.In(clock.Lagos).Date()
	return time.Date(year, month, number, 0, 0, 0, 0, clock.Lagos)
}

// The totals of each day are those of the statement of that day, whatever the entries are.
func TestDailyTotalsAgreeWithTheStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, seed := newWorld(t, d), rand.Uint64()
		t.Log("seed", seed)
		w.random(rand.New(rand.NewPCG(seed, 1)))
		from, to := day(firstDay).AddDate(0, 0, -2), day(w.clock.Now()).AddDate(0, 0, 9)
		days, err := w.Days(t.Context(), w.company, w.main, from, to)
		must(t, err)
		if last := days[len(days)-1].Began; !days[0].Began.Equal(from) || !last.Equal(day(w.clock.Now())) {
			t.Errorf("%s to %s", days[0].Began, last)
		}
		for _, got := range days {
			s, err := w.Statement(t.Context(), w.company, w.main, got.Began, got.Began.AddDate(0, 0, 1))
			must(t, err)
			want := report.Day{Began: got.Began, Opening: s.Opening, Credits: s.Credits, Debits: s.Debits, Closing: s.Closing}
			must(t, s.Each(t.Context(), func(e report.Entry) error { want.Fees += e.Fee; return nil }))
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		if _, err := w.Days(t.Context(), w.company, 99, from, to); !fault.Is(err, fault.Missing) {
			t.Errorf("an unknown account: %v", err)
		}
		if _, err := w.Days(t.Context(), "nobody", w.main, from, to); !fault.Is(err, fault.Missing) {
			t.Errorf("a different company: %v", err)
		}
	})
}

// The balance of an instant is the sum of all entries before that instant.
func TestBalancesOfAnInstantAreTheSumsOfTheEntries(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, seed := newWorld(t, d), rand.Uint64()
		t.Log("seed", seed)
		r := rand.New(rand.NewPCG(seed, 2))
		w.random(r)
		late, err := w.settlements.Create(t.Context(), me, w.company, "opened late")
		must(t, err)
		opened := late.CreatedAt.Truncate(time.Microsecond) // the database has microseconds
		var entries []report.Entry
		for _, account := range []int64{w.main, w.other} {
			s, err := w.Statement(t.Context(), w.company, account, time.Time{}, time.Time{})
			must(t, err)
			must(t, s.Each(t.Context(), func(e report.Entry) error { entries = append(entries, e); return nil }))
		}
		w.clock.Advance(time.Hour)
		instants := []time.Time{firstDay, entries[3].CreatedAt, entries[3].CreatedAt.Add(time.Microsecond), opened}
		for range 40 {
			instants = append(instants, firstDay.Add(time.Duration(1+r.Int64N(int64(opened.Sub(firstDay))))))
		}
		for _, at := range instants {
			want := map[int64]money.Kobo{}
			for _, e := range entries {
				if e.CreatedAt.Before(at) {
					want[e.SettlementID] += e.Moved()
				}
			}
			accounts, err := w.AccountsAt(t.Context(), w.company, at)
			must(t, err)
			if at.After(firstDay) != (len(accounts) == 2) {
				t.Errorf("%s: %d accounts", at, len(accounts))
			}
			for _, a := range accounts {
				if a.Balance != want[a.ID] {
					t.Errorf("%s: account %d has %s, want %s", at, a.ID, a.Balance, want[a.ID])
				}
			}
		}
		now, err := w.AccountsAt(t.Context(), w.company, w.clock.Now())
		must(t, err)
		want, err := w.Accounts(t.Context(), w.company)
		must(t, err)
		if fmt.Sprint(now) != fmt.Sprint(want) || len(want) != 3 || want[2].Status != settlement.Active {
			t.Errorf("%+v, want %+v", now, want)
		}
	})
}
