package apptest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// crashes are the moments at which the program is killed during a purchase, or during a requery (a
// request for the purchase's status).
var crashes = []struct {
	name      string
	ending    string
	buying    apptest.Moment // the moment at which the program that takes the order dies
	following apptest.Moment // the moment at which the next program, which sends the requery, dies
	found     string         // the state of the purchase when the next program starts
	end       string
}{
	{"after the debit", "10", apptest.FirstCommit, "", "PENDING", "FAILED"},
	{"before the call", "10", apptest.Paying, "", "PENDING", "FAILED"},
	{"after a delivery", "10", apptest.Paid, "", "PENDING", "SUCCESS"},
	{"after a rejection", "01", apptest.Paid, "", "PENDING", "FAILED"},
	{"after a lost answer", "04", apptest.Paid, "", "PENDING", "SUCCESS"},
	{"after the outcome, before the answer", "10", apptest.SecondCommit, "", "SUCCESS", "SUCCESS"},
	{"after the refund, before the answer", "01", apptest.SecondCommit, "", "FAILED", "FAILED"},
	{"after an unknown outcome was noted", "04", apptest.SecondCommit, "", "PENDING", "SUCCESS"},
	{"in the resolver, after the answer", "04", "", apptest.Asked, "PENDING", "SUCCESS"},
	{"in the resolver, after the outcome", "04", "", apptest.FirstCommit, "SUCCESS", "SUCCESS"},
	{"in the resolver, after one poll of many", "05", "", apptest.FirstCommit, "PENDING", "FAILED"},
}

func TestADeathAtAnyMomentLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		for _, c := range crashes {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				home := apptest.NewHome(t, dialect)
				first := home.Spawn(t, c.buying, time.Second)
				order := first.Order(first.Bundle(), "crash", c.ending)
				answer, err := first.Try(t.Context(), http.MethodPost, apptest.PurchaseData, order, header, "crash")
				if (err != nil) != (c.buying != "") {
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
				afterwards(t, home.Start(t), order, answer, c.found, c.end)
			})
		}
	})
}

// afterwards checks the program that starts after the kill.
func afterwards(t *testing.T, p *apptest.Program, order apptest.Order, answer apptest.Answer, found, end string) {
	t.Helper()
	// On a slow machine the program may already have polled the biller. The first poll comes after
	// five real seconds.
	if tr := p.Transaction("crash"); tr.Status != found && tr.Status != end {
		t.Errorf("found %+v, want %s", tr, found)
	}
	p.Audit(t, apptest.DevFloat)
	// The client got no response to its order, so it sends the order again under the same key.
	p.Advance(2 * time.Second) // the first request to the biller is certainly over
	before := p.Transaction("crash")
	again := p.Buy(order, header, "crash")
	switch {
	case answer.Body != "":
		same(t, "a retry", answer, again)
	case before.Status == "FAILED":
		again.Want(t, http.StatusBadRequest)
	default:
		if tr := p.Bought(again); tr.TransactionID != before.TransactionID || tr.Status != before.Status {
			t.Errorf("the retry was answered %s", again)
		}
		if strings.HasPrefix(again.Message(), "Duplicate") {
			t.Errorf("the retry did not get the answer of the first try: %s", again)
		}
	}
	same(t, "another retry", stripped(again), p.Buy(order, header, "crash"))
	p.Advance(3 * time.Minute) // the dead worker's lease has expired
	p.Advance(15 * time.Minute)
	if tr := p.Transaction("crash"); tr.Status != end {
		t.Errorf("ended %+v, want %s", tr, end)
	}
	if n := len(p.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d transactions", n)
	}
}

// stripped returns a response without its headers. A replayed response has an additional header, so
// only status and body can be compared.
func stripped(a apptest.Answer) apptest.Answer {
	a.Header = nil
	return a
}
