package report_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// A credit that operators have assigned to a company is in that company's ledger, or a job is left that brings it there.
func TestAnAssignedCreditThatIsNowhereIsFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		exec := func(statement string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), statement, args...)
			must(t, err)
		}
		exec(`INSERT INTO operation_case VALUES ('house', 'case-1', 'bank/s-1', 'UNKNOWN_ACCOUNT', 0, '', 800, 'RESOLVED', 'assigned', '', $1, 1, '', '', 0, 0, 1, 1, '')`, w.company)
		found := func(want int) {
			t.Helper()
			v, err := w.Verify(t.Context(), settlement.House)
			must(t, err)
			var about []report.Finding
			for _, f := range v.Findings {
				if f.Check == "assigned credit" {
					about = append(about, f)
				}
			}
			if len(about) != want || want == 1 && (about[0].ID != "case-1" || about[0].Found != "neither") {
				t.Errorf("%+v, want %d", about, want)
			}
		}
		found(1)
		exec(`INSERT INTO job VALUES ('house', 'settlement.assign', 'case-1', 'j1', 0, 0, 0, 0, '', 0, 'bank')`)
		found(0)
		exec(`DELETE FROM job WHERE company_id = 'house' AND subject = 'case-1'`)
		credit := func(session string, account int) {
			t.Helper()
			exec(`INSERT INTO settlement_credit (company_id, id, session_id, provider, account_number, settlement_id, amount_kobo, sender_name, sender_account,
				sender_bank, narration, reference, told_at, created_at) VALUES ($1, $2, $2, 'bank', '0123456789', $3, 800, '', '', '', '', '', 1, 1)`, w.company, session, account)
		}
		credit("s-2", 1)
		found(1)
		credit("s-1", 1)
		found(0)
	})
}
