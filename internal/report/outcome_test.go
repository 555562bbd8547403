package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// An open operation is found by its reference, however many newer ones are open. Settled ones and those of another company are not.
func TestOutcomesOfSomeReferences(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_000_00, "float")
		for _, outcome := range []provider.Outcome{provider.Unknown, provider.Confirmed, provider.Unknown, provider.Unknown} {
			w.send(w.company, w.main, outcome, operation.Labels{}, false)
			w.clock.Advance(time.Minute)
		}
		all, total, err := w.Outcomes(t.Context(), w.company, nil, 0, 10)
		must(t, err)
		if total != 3 {
			t.Fatalf("%d open operations", total)
		}
		settled, err := db.One(t.Context(), d, db.Value[string], `SELECT id FROM operation WHERE company_id = $1 AND state = 'SUCCESS'`, w.company)
		must(t, err)
		asked := []string{all[2].Reference, all[0].Reference, settled, "nothing"}
		some, total, err := w.Outcomes(t.Context(), w.company, asked, 0, 10)
		must(t, err)
		if total != 2 || len(some) != 2 || some[0] != all[0] || some[1] != all[2] {
			t.Errorf("%d: %+v, want the newest and the oldest of %+v", total, some, all)
		}
		if second, total, err := w.Outcomes(t.Context(), w.company, asked, 1, 10); err != nil || total != 2 || len(second) != 1 || second[0] != all[2] {
			t.Errorf("the second page: %d, %+v, %v", total, second, err)
		}
		if others, total, err := w.Outcomes(t.Context(), "another", asked, 0, 10); err != nil || total != 0 || len(others) != 0 {
			t.Errorf("another company: %d, %+v, %v", total, others, err)
		}
	})
}

// The open card fundings of a company are found without its other open operations.
func TestOpenFundingsAreFoundAmongOtherOperations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.fund(w.main, 1_000_000_00, "float")
		for range 3 {
			w.send(w.company, w.main, provider.Unknown, operation.Labels{}, false)
		}
		columns := strings.ReplaceAll(operation.Columns, "operation.", "")
		values := strings.NewReplacer(" id,", " $2,", " kind,", " 'card',", " state,", " $3,", " idempotency_key,", " '',", " provider_reference,", " '',").Replace(columns)
		plant := func(prefix, state string, n int) {
			for i := range n {
				_, err := d.Exec(t.Context(), `INSERT INTO operation (`+columns+`) SELECT `+values+` FROM operation WHERE company_id = $1 AND kind = 'payout' ORDER BY created_at LIMIT 1`,
					w.company, fmt.Sprintf("%s-%03d", prefix, i), state)
				must(t, err)
			}
		}
		plant("done", "SUCCESS", 2)
		plant("open", "PENDING", 2)
		list, isAll, err := w.OpenFundings(t.Context(), w.company)
		must(t, err)
		if len(list) != 2 || !isAll || list[0].Reference != "open-001" || list[1].Type != "card" {
			t.Errorf("%v %+v", isAll, list)
		}
		plant("more", "PENDING", 100)
		if list, isAll, err := w.OpenFundings(t.Context(), w.company); err != nil || len(list) != 100 || isAll || list[0].Reference != "open-001" {
			t.Errorf("%d, %v, %v", len(list), isAll, err)
		}
		if list, isAll, err := w.OpenFundings(t.Context(), "another"); err != nil || len(list) != 0 || !isAll {
			t.Errorf("another company: %+v, %v, %v", list, isAll, err)
		}
	})
}
