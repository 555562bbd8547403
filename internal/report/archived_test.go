package report_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// A month that was archived before its events had evidence numbers does not count. Of the other months,
// the events count that are no longer in the database.
func TestArchivedCountsEventsWithNumbers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		exec := func(statement string) {
			t.Helper()
			if _, err := d.Exec(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		want := func(n int64) {
			t.Helper()
			if got, err := report.Archived(ctx, d, "acme"); err != nil || got != n {
				t.Errorf("%d events are archived, want %d: %v", got, n, err)
			}
		}
		exec(`INSERT INTO event (company_id, sequence, id, kind, data, created_at) VALUES ('acme', 8, 'e', 'k', '{}', 0), ('acme', 10, 'f', 'k', '{}', 0)`)
		exec(`INSERT INTO archive_month (company_id, month, first_sequence, last_sequence, hash, archived_at) VALUES ('acme', '2030-01', 1, 5, '', 0)`)
		want(0)
		exec(`INSERT INTO archive_month (company_id, month, first_sequence, last_sequence, hash, archived_at, leaves, mac)
			VALUES ('acme', '2030-02', 6, 9, '', 0, '1-4', 'm'), ('other', '2030-02', 1, 7, '', 0, '1-7', 'm')`)
		want(2)
		exec(`DELETE FROM event WHERE sequence = 8`)
		want(4)
	})
}
