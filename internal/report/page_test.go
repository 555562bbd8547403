package report_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
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

func names(list []report.Entry) (out string) {
	for _, e := range list {
		out += fmt.Sprint(e.SettlementID, "/", e.ID[len(e.ID)-6:], " ")
	}
	return out
}
