package ledger

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// Verify reads the ledger only once, and joins rows by their whole primary key. A join by the
// company ID only would read the whole ledger for each row. With six thousand entries such a join
// took six seconds. The test uses SQLite, which has no statistics here and therefore shows such a
// join.
func TestVerifyReadsTheLedgerOnce(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	for _, query := range []string{withoutEntries, withoutTransfer} {
		plan, err := db.All(t.Context(), d, func(s db.Scanner) (string, error) {
			var id, parent, unused int64
			var detail string
			return detail, s.Scan(&id, &parent, &unused, &detail)
		}, "EXPLAIN QUERY PLAN "+query, "c1")
		must(t, err)
		joins := 0
		for _, step := range plan {
			if strings.Contains(step, "LEFT-JOIN") {
				joins++
				if strings.Count(step, "=?") < 3 {
					t.Errorf("%s\n%s", step, query)
				}
			}
		}
		if joins == 0 {
			t.Errorf("no look-up among\n%s", strings.Join(plan, "\n"))
		}
	}
}

// The database finds a page of the ledger by its key, without scanning the earlier pages.
func TestAPageIsFoundByItsKey(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	for query, key := range map[string]any{entriesFrom: int64(1), transfersFrom: "settle"} {
		plan, err := db.All(t.Context(), d, func(s db.Scanner) (string, error) {
			var id, parent, unused int64
			var detail string
			return detail, s.Scan(&id, &parent, &unused, &detail)
		}, "EXPLAIN QUERY PLAN "+query, "c1", "a", key)
		must(t, err)
		if len(plan) != 1 || !strings.Contains(plan[0], "company_id=? AND (") || !strings.Contains(plan[0], ")>(?,?)") {
			t.Errorf("%s\n%s", strings.Join(plan, "\n"), query)
		}
	}
}
