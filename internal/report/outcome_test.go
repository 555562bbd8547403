package report_test

import (
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
