package report_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// long adds n entries to each of the two accounts. Every ten entries have the same instant.
func (w *world) long(n int) {
	w.t.Helper()
	w.many(n)
	for _, text := range []string{
		`UPDATE ledger_entry SET created_at = created_at / 10 * 10 WHERE company_id = $1 AND account_id = $2 AND $3 <> ''`,
		`INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at)
			SELECT company_id, $3, sequence, reference, step, -amount_kobo, -previous_kobo, -current_kobo, created_at + 10 * (sequence / 1000)
			FROM ledger_entry WHERE company_id = $1 AND account_id = $2`,
		`UPDATE ledger_account SET entry_sequence = (SELECT a.entry_sequence FROM ledger_account AS a WHERE a.company_id = $1 AND a.id = $2)
			WHERE company_id = $1 AND id = $3`,
	} {
		_, err := w.db.Exec(w.t.Context(), text, w.company, settlement.LedgerAccount(w.main), settlement.LedgerAccount(w.other))
		must(w.t, err)
	}
}

// The last page of a long list needs no more memory than the first page. Otherwise a few
// concurrent requests could use up the memory of the process.
func TestADeepPageNeedsLittleMemory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		const n = 20_000
		w.long(n)
		for name, f := range map[string]report.EntryFilter{
			"both accounts": {}, "their credits": {Type: "credit"}, "one account": {SettlementID: w.other},
			"its debits": {Type: "debit", SettlementID: w.main}, "a part of both": {From: firstDay.Add(5000_000), To: firstDay.Add(15_000_000)},
		} {
			whole, total, err := w.Entries(t.Context(), w.company, f, 0, 2*n)
			must(t, err)
			if len(whole) != total || total < n/2-10 {
				t.Fatalf("%s: %d of %d", name, len(whole), total)
			}
			for _, offset := range []int{0, 1, 499, 501, 2345, total / 2, total - 2500, total - 99, total - 1, total} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				page, _, err := w.Entries(t.Context(), w.company, f, offset, 100)
				must(t, err)
				runtime.ReadMemStats(&after)
				if got, want := names(page), names(whole[offset:min(offset+100, total)]); got != want {
					t.Errorf("%s from %d:\n%s, want\n%s", name, offset, got, want)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
					t.Errorf("%s from %d: %d MB", name, offset, used>>20)
				}
			}
		}
	})
}

// Two programs book on one account, and their clocks differ by 13 minutes. The ledger ignores such a
// clock, so the dates of the entries go back and forth. The list of the account still has the entries
// in the order of their balances, on every page.
func TestEntriesOfTwoClocksKeepTheirOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		behind := clock.At(firstDay)
		book := ledger.New(d, behind)
		t.Cleanup(book.Drain)
		theirs := settlement.New(settlement.Config{DB: d, Book: book, Clock: behind, Operations: w.operations})
		w.clock.Advance(13 * time.Minute)
		const each = 4
		for range each {
			w.fund(w.main, 5_00, "of the program that is ahead")
			must(t, theirs.Fund(t.Context(), me, w.company, w.main, 7_00, "bank", "of the program that is behind"))
			w.clock.Advance(time.Second)
			behind.Advance(time.Second)
		}
		whole, total, err := w.Entries(t.Context(), w.company, report.EntryFilter{SettlementID: w.main}, 0, 100)
		must(t, err)
		if total != 2*each || len(whole) != total {
			t.Fatalf("%d of %d entries", len(whole), total)
		}
		backwards := false
		for i, e := range whole[1:] { // the newest comes first
			if newer := whole[i]; e.Current != newer.Previous {
				t.Errorf("entry %d ends with %s, and the next one begins with %s", i+1, e.Current, newer.Previous)
			} else if newer.CreatedAt.Before(e.CreatedAt) {
				backwards = true
			}
		}
		if !backwards {
			t.Error("the dates follow each other, so the test shows nothing")
		}
		for offset := range total {
			page, _, err := w.Entries(t.Context(), w.company, report.EntryFilter{SettlementID: w.main}, offset, 1)
			must(t, err)
			if got, want := names(page), names(whole[offset:offset+1]); got != want {
				t.Errorf("page %d is %s, not %s", offset, got, want)
			}
		}
	})
}

func names(list []report.Entry) (out string) {
	for _, e := range list {
		out += fmt.Sprint(e.SettlementID, "/", e.ID[len(e.ID)-6:], " ")
	}
	return out
}
