package apptest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// A serving program walks through the ledger of every company once a day.
func TestEveryLedgerIsWalkedDaily(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect)
			p.Bought(p.Buy(p.Order(p.Bundle(), "walked", "10")))
			walked := func() map[string]int64 {
				all, err := db.Map[string, int64](t.Context(), p.App.DB, `SELECT company_id, walked_at FROM report_progress`)
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			if all := walked(); len(all) > 0 {
				t.Errorf("walked before it is due: %v", all)
			}
			// A run of the walk reads for half a second. On a slow machine it takes several.
			after := func(moved time.Duration, before map[string]int64) map[string]int64 {
				p.Advance(moved)
				for range 20 {
					all := walked()
					if !slices.ContainsFunc(heads(t, p), func(h string) bool { return all[h] <= before[h] }) {
						return all
					}
					p.Advance(4 * time.Second)
				}
				return walked()
			}
			first := after(11*time.Minute, nil)
			second := after(25*time.Hour, first)
			for _, h := range heads(t, p) {
				if first[h] == 0 || second[h] <= first[h] {
					t.Errorf("%s was walked at %d and %d", h, first[h], second[h])
				}
			}
		})
	}
}

func heads(t *testing.T, p *apptest.Program) (companies []string) {
	t.Helper()
	all, err := p.App.Reports.Heads(t.Context())
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, h := range all {
		companies = append(companies, h.Company)
	}
	return companies
}
