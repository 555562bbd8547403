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

// payoutCrashes are the moments at which the program is killed during a payout or its requery (a
// request for the payout's status). The first commit is the commit of the name enquiry.
var payoutCrashes = []struct {
	name, ending string
	paying       apptest.Moment // the moment at which the program that takes the order dies
	following    apptest.Moment // the moment at which the next program, which sends the requery, dies
	end          string
}{
	{"after the debit", "10", apptest.SecondCommit, "", "FAILED"},
	{"before the call", "10", apptest.Paying, "", "FAILED"},
	{"after a delivery", "10", apptest.Paid, "", "SUCCESS"},
	{"after a rejection", "01", apptest.Paid, "", "FAILED"},
	{"after a lost answer", "04", apptest.Paid, "", "SUCCESS"},
	{"after the outcome, before the answer", "10", apptest.ThirdCommit, "", "SUCCESS"},
	{"after the refund, before the answer", "01", apptest.ThirdCommit, "", "FAILED"},
	{"in the resolver, after the answer", "04", "", apptest.Asked, "SUCCESS"},
	{"in the resolver, after the outcome", "04", "", apptest.FirstCommit, "SUCCESS"},
}

func TestAPayoutOutlivesItsProgram(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, c := range payoutCrashes {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				home := apptest.NewHome(t, dialect)
				first := home.Spawn(t, c.paying, time.Second)
				id := verify(t, first.Client, c.ending)
				order := map[string]any{"verify_id": id, "amount": 1000}
				answer, err := first.Try(t.Context(), http.MethodPost, sendPayout, order, header, "crash")
				if (err != nil) != (c.paying != "") {
					t.Fatalf("the order was answered %s, %v", answer, err)
				}
				if c.following != "" {
					first.Kill()
					second := home.Spawn(t, c.following, time.Second)
					// Moving the clock makes the program send the requery. The program is killed, so no response
					// comes.
					_, _ = second.Raw(t.Context(), http.MethodPost, "/sandbox/clock", map[string]string{"advance": "10s"})
					second.Dead()
				}
				first.Dead()
				outlived(t, home.Start(t), id, order, c.end)
			})
		}
	})
}

const sendPayout = "/api/v1/settlement/send-payout"

// outlived checks the program that starts after the kill. If the client sends its order again, the
// response shows the same payout, and the bank pays only once.
func outlived(t *testing.T, p *apptest.Program, id string, order map[string]any, end string) {
	t.Helper()
	p.Advance(2 * time.Second) // the first request to the bank is certainly over
	again := p.Do(http.MethodPost, sendPayout, order, header, "crash")
	same(t, "another retry", stripped(again), p.Do(http.MethodPost, sendPayout, order, header, "crash"))
	send(p.Client, id, 1000).Want(t, http.StatusBadRequest) // a verify_id can be used for only one payout
	p.Advance(3 * time.Minute)                              // the dead worker's lease has expired
	p.Advance(15 * time.Minute)
	apptest.Eventually(t, func() string {
		if got := status(p.Client, id); got.Status != end || got.Refunded != (end == "FAILED") {
			return fmt.Sprintf("ended %+v, want %s; the retry was answered %s", got, end, again)
		}
		return ""
	})
	want, executed := money.Kobo(apptest.DevFloat), 0
	if end == "SUCCESS" {
		want, executed = want-1000*money.Naira, 1
	}
	holds(t, p, p.Client, want)
	var bank struct{ Data []struct{ Executions int } }
	a, err := p.Raw(t.Context(), http.MethodGet, "/sandbox/provider-ledger?reference="+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Into(t, &bank)
	if len(bank.Data) != executed || executed == 1 && bank.Data[0].Executions != 1 {
		t.Errorf("the bank executed %+v", bank.Data)
	}
}
