package evidence_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/report"
)

// The check of a tree does not read again the rows that the check of the ledger has read. The test
// deletes them in between. Without the sums of the first check, the second check finds that.
func TestTheTreeDoesNotReadCheckedRowsAgain(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		o.pay("acme", 300)
		o.round()
		v, err := report.New(o.db, o.clock).Verify(t.Context(), "acme")
		must(t, err)
		wrongs := func(rows *evidence.Tally) []string {
			t.Helper()
			wrongs, err := o.Verify(t.Context(), o.db, "acme", 0, rows)
			must(t, err)
			return wrongs
		}
		for _, table := range []string{"ledger_transfer", "event", "operator_audit"} {
			o.exec(`DELETE FROM ` + table + ` WHERE company_id = 'acme' AND leaf > 0 AND leaf <= 256`)
		}
		if again := wrongs(v.Rows); len(again) > 0 {
			t.Errorf("the rows were read again: %q", again)
		}
		if len(wrongs(nil)) == 0 {
			t.Error("the deleted rows are not missed")
		}
		o.exec(`DELETE FROM event WHERE company_id = 'acme' AND leaf > 512 AND leaf < 520`)
		if one := wrongs(v.Rows); len(one) < 20 {
			t.Errorf("after a difference, not all rows were read: %q", one)
		}
	})
}
