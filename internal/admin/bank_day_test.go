package admin_test

import (
	"fmt"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// Operators see each day of a bank beside the ledger, with the present state of the differences' cases, and
// download the same as CSV.
func TestOperatorsSeeTheDaysOfBanks(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		d.write(`INSERT INTO operation_case VALUES ('house', 'c1', 'main/x', 'UNKNOWN_DEBIT', 0, '', 10000, 'RESOLVED', 'dismissed', '', '', 0, 'a', 'b', 0, 0, 1, 0, '')`)
		d.write(`INSERT INTO report_bank_day VALUES ('house', 'main', 21915, 'r1', 12, 50000, 70000, -11075, 2, 1,
			'[{"Reason":"UNKNOWN_DEBIT","Company":"house","Subject":"main/x","Bank":100,"Book":0,"Detail":"=a debit","At":"2030-01-01T10:00:00Z","Case":"c1","Effect":-100},
			{"Reason":"UNBOOKED_CHARGE","Company":"house","Subject":"main/2030-01-01","Bank":10.75,"Book":0,"Detail":"charges","At":"2029-12-31T23:00:00Z","Case":"c2","Effect":-10.75}]', $1)`,
			d.clock.Now().UnixMicro())
		d.write(`INSERT INTO report_bank_day VALUES ('house', 'spare', 21915, 'r2', 0, 0, 0, 0, 0, 0, '[]', $1)`, d.clock.Now().UnixMicro())
		d.write(`INSERT INTO report_bank_day VALUES ('house', 'main', 21908, 'r1', 0, 0, 0, 0, 0, 1, '[]', $1)`, d.clock.Now().UnixMicro())
		viewer := d.as("vera", operator.Viewer)
		main := `{"provider":"main","day":"2030-01-01","lines":12,"in":500,"out":700,"bank":-200,"ledger":-89.25,"difference":-110.75,"explained":-100,
			"chargesCompared":true,"breaks":2,"reconciliation":"r1","at":"2030-01-02T03:04:05.000Z","findings":[
			{"reason":"UNKNOWN_DEBIT","company":"house","subject":"main/x","bank":100,"ledger":0,"effect":-100,"explained":-100,"detail":"=a debit","at":"2030-01-01T10:00:00.000Z","case":"c1","status":"RESOLVED","outcome":"dismissed"},
			{"reason":"UNBOOKED_CHARGE","company":"house","subject":"main/2030-01-01","bank":10.75,"ledger":0,"effect":-10.75,"explained":0,"detail":"charges","at":"2029-12-31T23:00:00.000Z","case":"c2","status":null,"outcome":null}]}`
		spare := `{"provider":"spare","day":"2030-01-01","lines":0,"in":0,"out":0,"bank":0,"ledger":0,"difference":0,"explained":0,
			"chargesCompared":false,"breaks":0,"reconciliation":"r2","at":"2030-01-02T03:04:05.000Z","findings":[]}`
		d.told(d.ok(viewer, "GET", "/admin/v1/bank-days", ""), `{"from":"2029-12-27","to":"2030-01-02","days":[`+main+`,`+spare+`]}`)
		d.told(d.ok(viewer, "GET", "/admin/v1/bank-days?provider=main&from=2030-01-01&to=2030-01-01", "")["days"], `[`+main+`]`)
		rows := d.file("bank-days-2030-01-01-2030-01-02.csv", "/admin/v1/bank-days/export?from=2030-01-01&provider=main")
		want := "[[2030-01-01 main DAY -200.00 -89.25 -110.75 -100.00     ]" +
			" [2030-01-01 main UNKNOWN_DEBIT 100.00 0.00 -100.00  RESOLVED house main/x '=a debit c1]" +
			" [2030-01-01 main UNBOOKED_CHARGE 10.75 0.00 -10.75  none house main/2030-01-01 charges c2]]"
		if got := fmt.Sprint(rows[1:]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		d.no(viewer, "GET", "/admin/v1/bank-days?from=2029-12-02", "", 400, "The period must have at most 31 days")
		d.no(viewer, "GET", "/admin/v1/bank-days/export?to=x", "", 400, `"to" must be a day such as 2026-11-21`)
		d.no(viewer, "GET", "/admin/v1/bank-days/export?from=2029-12-02", "", 400, "The period must have at most 31 days")
	})
}
