package report_test

import (
	"context"
	"fmt"
	"maps"
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

// teller writes operations and their events, and counts them.
type teller struct {
	*report.Service
	t     *testing.T
	db    *db.DB
	clock *clock.Manual
	book  *ledger.Book
	feed  *event.Service
}

func startTeller(t *testing.T, d *db.DB) *teller {
	clk := clock.At(time.Date(2030, 1, 9, 10, 15, 0, 0, time.UTC))
	book := ledger.New(d, clk)
	for _, company := range []string{"acme", "bolt"} {
		must(t, book.Commit(t.Context(), ledger.Found(company)))
	}
	return &teller{report.New(d, clk), t, d, clk, book, event.NewService(d, book)}
}

// begins writes an operation and the event of its intent.
func (w *teller) begins(company, kind, id, provider string, amount money.Kobo) {
	w.t.Helper()
	_, err := w.db.Exec(w.t.Context(), `INSERT INTO operation VALUES ($1, $2, $3, '', 'PENDING', $4, 1, $5, 50, 0, 0, 0, 0, 0, '', '', '', '', '', $6, 0, '', 0)`,
		company, id, map[string]string{"vtu": "vtu", "payout": "payout", "card.funding": "card"}[kind], provider, int64(amount), clock.Micros(w.clock.Now()))
	must(w.t, err)
	began := map[string]string{"vtu": event.VTUPending, "payout": event.PayoutPending, "card.funding": event.CardFundingPending}[kind]
	w.tells(company, began, id)
}

// tells writes an event about an operation.
func (w *teller) tells(company, kind, id string) {
	w.t.Helper()
	u, name := ledger.For(company), "reference"
	if kind[:3] == "vtu" {
		name = "transactionId"
	}
	event.Emit(&u, kind, map[string]any{name: id, "amount": "1.00"})
	must(w.t, w.book.Commit(w.t.Context(), u))
}

// counts runs the job, and fails the test unless these are all counts, by hour, kind, provider and outcome.
func (w *teller) counts(want map[string]string) {
	w.t.Helper()
	next, err := w.CountHours(w.t.Context(), w.feed.Since)
	if err != nil || !next.After(w.clock.Now()) {
		w.t.Fatal(next, err)
	}
	w.shows(want)
}

func (w *teller) shows(want map[string]string) {
	w.t.Helper()
	list, err := w.Hours(w.t.Context(), time.Unix(0, 0), w.clock.Now().Add(time.Hour))
	must(w.t, err)
	got := map[string]string{}
	for _, h := range list {
		got[fmt.Sprintf("%s %s %s %s", h.At.Format("02 15"), h.Kind, h.Provider, h.Outcome)] = fmt.Sprintf("%d of %s", h.Count, h.Amount)
	}
	if !maps.Equal(got, want) {
		w.t.Errorf("%v\nwant %v", got, want)
	}
}

// Each operation counts in the hour in which it began, as unknown until its outcome.
func TestOperationsCountInTheirHour(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.begins("acme", "payout", "p1", "safehaven", 100_00)
		w.begins("acme", "payout", "p2", "safehaven", 50_00)
		w.begins("bolt", "vtu", "v1", "vtpass", 10_00)
		w.tells("acme", event.PayoutSuccess, "p1")
		w.tells("acme", event.KYBChanged, "p1")
		w.counts(map[string]string{"09 10 payout safehaven paid": "1 of ₦100.00", "09 10 payout safehaven unknown": "1 of ₦50.00", "09 10 vtu vtpass unknown": "1 of ₦10.00"})
		w.counts(map[string]string{"09 10 payout safehaven paid": "1 of ₦100.00", "09 10 payout safehaven unknown": "1 of ₦50.00", "09 10 vtu vtpass unknown": "1 of ₦10.00"})

		w.clock.Advance(3 * time.Hour)
		w.begins("bolt", "card.funding", "c1", "sudo", 7_00)
		_, err := d.Exec(t.Context(), `UPDATE operation SET provider = 'second' WHERE company_id = 'bolt' AND id = 'v1'`)
		must(t, err)
		w.tells("acme", event.PayoutFailed, "p2")
		w.tells("bolt", event.VTUSuccess, "v1")
		w.tells("bolt", event.CardFunded, "c1")
		w.tells("acme", event.PayoutReversed, "p1")
		want := map[string]string{
			"09 10 payout safehaven reversed": "1 of ₦100.00", "09 10 payout safehaven failed": "1 of ₦50.00",
			"09 10 vtu second paid": "1 of ₦10.00", "09 13 card sudo paid": "1 of ₦7.00",
		}
		w.counts(want)
		if left, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM report_open`); err != nil || left != 0 {
			t.Error(left, err)
		}
		w.tells("bolt", event.VTUReversed, "v1")
		delete(want, "09 10 vtu second paid")
		want["09 10 vtu second reversed"] = "1 of ₦10.00"
		w.counts(want)
	})
}

// A program may die at any statement of the transaction, and its successor counts each event once.
func TestACrashCountsNoEventTwice(t *testing.T) {
	for _, table := range []string{"report_place", "report_open", "report_hour"} {
		t.Run(table, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := startTeller(t, d)
				w.begins("acme", "payout", "p1", "bank", 100_00)
				w.counts(map[string]string{"09 10 payout bank unknown": "1 of ₦100.00"})
				w.tells("acme", event.PayoutSuccess, "p1")
				w.begins("acme", "payout", "p2", "bank", 20_00)
				move := func(from, to string) {
					t.Helper()
					_, err := d.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to)
					must(t, err)
				}
				move(table, "away")
				if _, err := w.CountHours(t.Context(), w.feed.Since); err == nil {
					t.Fatal("counted without the table")
				}
				move("away", table)
				want := map[string]string{"09 10 payout bank unknown": "1 of ₦100.00"}
				w.shows(want)
				w.counts(map[string]string{"09 10 payout bank paid": "1 of ₦100.00", "09 10 payout bank unknown": "1 of ₦20.00"})
			})
		})
	}
}

// If two programs have read the same events, only one of them counts them.
func TestTwoProgramsCountAnEventOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.begins("acme", "payout", "p1", "bank", 100_00)
		w.counts(map[string]string{"09 10 payout bank unknown": "1 of ₦100.00"})
		w.tells("acme", event.PayoutSuccess, "p1")
		late := w.ReadEvents(t.Context(), t, "acme")
		w.counts(map[string]string{"09 10 payout bank paid": "1 of ₦100.00"})
		if err := late(); err != report.ErrOvertaken {
			t.Error(err)
		}
		w.shows(map[string]string{"09 10 payout bank paid": "1 of ₦100.00"})
	})
}

// A company with more events than one page is counted in pages, and ends find beginnings of earlier pages.
func TestEventsCountInPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		const n = 3
		for i := range n {
			w.begins("acme", "payout", fmt.Sprint("p", i), "bank", 1_00)
		}
		u := ledger.For("acme")
		for range report.HoursPage {
			event.Emit(&u, event.KYBChanged, map[string]string{})
		}
		must(t, w.book.Commit(t.Context(), u))
		for i := range n {
			w.tells("acme", event.PayoutSuccess, fmt.Sprint("p", i))
		}
		w.counts(map[string]string{"09 10 payout bank paid": "3 of ₦3.00"})
	})
}

// The first count of a long feed begins eight days ago, and operations from before do not count, even if
// they end later.
func TestTheFirstCountSkipsOldOperations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.begins("acme", "payout", "old", "bank", 1_00)
		w.begins("acme", "payout", "older", "bank", 1_00)
		w.tells("acme", event.PayoutSuccess, "older")
		w.clock.Advance(9 * 24 * time.Hour)
		w.begins("acme", "payout", "new", "bank", 2_00)
		w.tells("acme", event.PayoutSuccess, "old")
		w.tells("acme", event.PayoutReversed, "older")
		w.counts(map[string]string{"18 10 payout bank unknown": "1 of ₦2.00"})
	})
}

// One company with an unreadable event does not stop the others.
func TestAnUnreadableEventStopsOnlyItsCompany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := startTeller(t, d)
		w.begins("acme", "payout", "p1", "bank", 1_00)
		w.begins("bolt", "payout", "p2", "bank", 2_00)
		_, err := d.Exec(t.Context(), `UPDATE event SET data = 'torn' WHERE company_id = 'acme'`)
		must(t, err)
		if _, err := w.CountHours(context.Background(), w.feed.Since); err == nil {
			t.Error("no error")
		}
		w.shows(map[string]string{"09 10 payout bank unknown": "1 of ₦2.00"})
	})
}
