package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// VerifyAfter stops after any number of entries, and continues there. In the end it has the same
// sums as Verify.
func TestVerifyInParts(t *testing.T) {
	dbtest.EachForm(t, func(t *testing.T, d *db.DB) {
		book := New(d, clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		t.Cleanup(book.Drain)
		company := id.Cuid()
		founding := Found(company)
		founding.OpenAccounts(Account{ID: "settlement/1"}, Account{ID: "capital", Floor: money.NoFloor})
		must(t, book.Commit(t.Context(), founding))
		for range 10 {
			u := For(company)
			u.Transfer(Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: 7, Kind: "credit"})
			must(t, book.Commit(t.Context(), u))
		}
		places, parts := map[string]Place{}, 0
		for whole := false; !whole; parts++ {
			rows := 3
			var r Report
			var err error
			r, whole, err = VerifyAfter(t.Context(), d, company, places, nil, func() bool { rows--; return rows >= 0 })
			must(t, err)
			if len(r.Wrongs) > 0 || whole && r.Entries != 20 {
				t.Fatalf("%+v", r)
			}
		}
		if parts < 7 || places["settlement/1"] != (Place{10, 70}) || places["capital"] != (Place{10, -70}) {
			t.Errorf("%d parts, %+v", parts, places)
		}
	})
}

// The entry, its transfer and the entry on the other side are found by their keys.
func TestAnEntryIsPairedByKeys(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	for query, args := range map[string][]any{
		pairedFrom: {"c1", "a", int64(1), int64(9)}, debitsFrom: {"c1", "r", "s"},
	} {
		plan, err := db.All(t.Context(), d, func(s db.Scanner) (string, error) {
			var id, parent, unused int64
			var detail string
			return detail, s.Scan(&id, &parent, &unused, &detail)
		}, "EXPLAIN QUERY PLAN "+query, args...)
		must(t, err)
		for _, step := range plan {
			if !strings.HasPrefix(step, "SEARCH") || strings.Count(step, "?") < 3 {
				t.Errorf("%s\n%s", strings.Join(plan, "\n"), query)
			}
		}
	}
}
