package apptest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// bulkPage is a bulk payout as GET shows it.
type bulkPage struct {
	BulkID string
	State  string
	Lines  []struct{ Reference, Status string }
}

// The program is killed while it sends the lines of a bulk payout. The next program sends the rest,
// and the bank executes no line twice. A line is a SUCCESS exactly if the bank has executed it.
func TestABulkPayoutOutlivesItsProgram(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, dies := range []apptest.Moment{apptest.Paying, apptest.Paid} {
			t.Run(string(dies), func(t *testing.T) {
				t.Parallel()
				home := apptest.NewHome(t, dialect)
				first := home.Spawn(t, dies, time.Second)
				line := map[string]any{"bank_code": "000014", "account_number": "0123456710", "amount": 1000}
				lines := make([]any, 6)
				for i := range lines {
					lines[i] = line
				}
				var opened struct{ Data bulkPage }
				first.Do(http.MethodPost, bulkPath, map[string]any{"fromSettlementId": first.SettlementID, "pin": first.PIN, "lines": lines}).Into(t, &opened)
				at := bulkPath + "/" + opened.Data.BulkID
				apptest.Eventually(t, func() string {
					var b bulkPage
					if first.Data(at, &b); b.State != "CHECKED" {
						return b.State
					}
					return ""
				})
				// The program may die before or after it responds.
				_, _ = first.Try(t.Context(), http.MethodPost, at+"/confirm", map[string]any{"pin": first.PIN})
				first.Dead()
				ended(t, home.Start(t), at)
			})
		}
	})
}

const bulkPath = "/api/v1/settlement/bulk-payout"

// ended waits until a bulk payout is completed, and compares its lines with the bank's books.
func ended(t *testing.T, p *apptest.Program, at string) {
	t.Helper()
	p.Advance(3 * time.Minute) // the dead worker's lease has expired
	p.Advance(16 * time.Minute)
	var b bulkPage
	apptest.Eventually(t, func() string {
		p.Advance(time.Minute)
		if p.Data(at, &b); b.State != "COMPLETED" {
			return fmt.Sprintf("%+v", b)
		}
		return ""
	})
	want, paid := money.Kobo(apptest.DevFloat), 0
	for _, l := range b.Lines {
		var bank struct{ Data []struct{ Executions int } }
		a, err := p.Raw(t.Context(), http.MethodGet, "/sandbox/provider-ledger?reference="+l.Reference, nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Into(t, &bank)
		executions := 0
		for _, one := range bank.Data {
			executions += one.Executions
		}
		if executions > 1 || (executions == 1) != (l.Status == "SUCCESS") {
			t.Errorf("%+v was executed %d times", l, executions)
		}
		if l.Status == "SUCCESS" {
			want, paid = want-1000*money.Naira, paid+1
		}
	}
	if len(b.Lines) != 6 || paid < 2 {
		t.Errorf("%d of %d lines are paid", paid, len(b.Lines))
	}
	holds(t, p, p.Client, want)
}
