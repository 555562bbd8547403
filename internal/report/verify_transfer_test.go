package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// The fast check of transfers reports agreement for the rows that the program wrote, and a
// difference after each change. The expensive SQL queries run only if the fast check reports a
// difference.
func TestTransfersAgreeUntilOneIsAltered(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
			for key, ending := range map[string]string{"plain-1": "10", "plain-2": "01", "plain-3": "08"} {
				p.Buy(p.Order(p.Bundle(), key, ending))
			}
			p.Stop()
			d := dbtest.Open(t, p.Home.Database)
			agree := func(q db.Querier, want bool, what string) {
				t.Helper()
				if got, err := report.TransfersAgree(t.Context(), q, p.Reference); err != nil || got != want {
					t.Errorf("%s: agree %v, %v", what, got, err)
				}
			}
			agree(d, true, "untouched")
			for what, statement := range map[string]string{
				"an amount":    `UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND kind = 'vtu'`,
				"a kind":       `UPDATE ledger_transfer SET kind = 'charge' WHERE company_id = $1 AND kind = 'vtu' AND step = 'settle'`,
				"an account":   `UPDATE ledger_transfer SET debit_account = 'fee' WHERE company_id = $1 AND kind = 'vtu' AND step = ''`,
				"a state":      `UPDATE operation SET state = 'FAILED' WHERE company_id = $1 AND state = 'SUCCESS'`,
				"a provider":   `UPDATE operation SET provider = 'x' WHERE company_id = $1 AND state = 'SUCCESS'`,
				"an operation": `DELETE FROM operation WHERE company_id = $1 AND state = 'PENDING'`,
				"a credit":     `UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND kind = 'credit'`,
			} {
				err := d.Tx(t.Context(), func(q db.Querier) error {
					if n, err := q.Exec(t.Context(), statement, p.Reference); err != nil || n == 0 {
						t.Errorf("%s: %d rows, %v", what, n, err)
					}
					agree(q, false, what)
					return db.ErrNone // the change is rolled back
				})
				if err == nil {
					t.Errorf("%s stays", what)
				}
			}
		})
	}
}
