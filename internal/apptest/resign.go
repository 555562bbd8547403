package apptest

import (
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// Resign makes the MACs of all rows of a company in a table of evidence again. A test calls it after it
// has changed rows on purpose, and must hide the change.
func Resign(t testing.TB, d *db.DB, table, company string) {
	t.Helper()
	all := db.EvidenceTables()
	of := all[slices.IndexFunc(all, func(one *db.Table) bool { return one.Name == table })]
	names := of.Names()
	rows, err := db.All(t.Context(), d, func(s db.Scanner) ([]any, error) {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		return row, s.Scan(into...)
	}, "SELECT "+strings.Join(names, ", ")+" FROM "+table+" WHERE company_id = $1", company)
	if err != nil {
		t.Fatal(err)
	}
	leaf := of.Index("leaf")
	for _, row := range rows {
		mac := d.Signer().MAC(db.Content(nil, of, row))
		if n, err := d.Exec(t.Context(), "UPDATE "+table+" SET mac = $3 WHERE company_id = $1 AND leaf = $2", company, row[leaf], mac); err != nil || n != 1 {
			t.Fatal(n, err)
		}
	}
}
