package report_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// The fast check of events reports agreement for the rows that the program wrote, with any
// Idempotency-Key. After each change by hand it reports a difference, and then the expensive SQL
// query runs.
func TestEventsAgreeUntilOneIsAltered(t *testing.T) {
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
			for _, c := range []struct{ key, ending string }{{"plain-1", "10"}, {`<a> & "b" \ naïve`, "10"}, {"plain-2", "01"}, {"plain-3", "08"}} {
				p.Buy(p.Order(p.Bundle(), c.key, c.ending))
			}
			for _, ending := range []string{"10", "01", "08"} {
				var v struct{ Data struct{ ID string } }
				p.Do(http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
					"bank_code": "000014", "account_number": "01234567" + ending, "pin": p.PIN, "fromSettlementId": p.SettlementID,
				}).Want(t, http.StatusOK).Into(t, &v)
				p.Do(http.MethodPost, "/api/v1/settlement/send-payout", map[string]any{"verify_id": v.Data.ID, "amount": 1000.5})
			}
			p.Stop()
			d := dbtest.Open(t, p.Home.Database)
			agree := func(q db.Querier, want bool, what string) {
				t.Helper()
				if got, err := report.EventsAgree(t.Context(), q, p.Reference); err != nil || got != want {
					t.Errorf("%s: agree %v, %v", what, got, err)
				}
			}
			agree(d, true, "untouched")
			for what, statement := range map[string]string{
				"an amount": "UPDATE event SET data = replace(data, '\x17', '\x171') WHERE company_id = $1 AND kind = 'payout.success'", // event.Pack
				"a key":     `UPDATE operation SET idempotency_key = 'x' WHERE company_id = $1 AND idempotency_key = 'plain-2'`,
				"a payee":   `UPDATE payout_verification SET bank_code = '1' WHERE company_id = $1`,
				"a state":   `UPDATE operation SET state = 'FAILED' WHERE company_id = $1 AND kind = 'vtu' AND state = 'PENDING'`,
				"an order": `UPDATE event SET sequence = CASE WHEN kind = 'payout.failed' THEN 1000000 ELSE 2000000 END
					WHERE company_id = $1 AND kind IN ('payout.failed', 'payout.success')`,
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
