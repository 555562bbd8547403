package apptest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// each runs f on each database, in parallel with the other tests.
func each(t *testing.T, f func(t *testing.T, dialect db.Dialect)) {
	t.Parallel()
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			f(t, dialect)
		})
	}
}

// stories are the behaviours of the sandbox (completion.md §5), by the ending of the phone number.
// Each has the expected response to the order and the expected final state of the purchase.
var stories = []struct {
	ending, name string
	status       int
	first        string // the status of the purchase, if the response is a 200
	end          string
	asked        int // the smallest number of requeries
}{
	{"10", "delivered at once", 200, "SUCCESS", "SUCCESS", 0},
	{"01", "definitely rejected", 400, "", "FAILED", 0},
	{"02", "delivered, and the answer lost", 200, "PENDING", "SUCCESS", 1},
	{"03", "never executed, and the answer lost", 200, "PENDING", "FAILED", 3},
	{"04", "HTTP 500, and executed", 200, "PENDING", "SUCCESS", 1},
	{"05", "HTTP 500, and not executed", 200, "PENDING", "FAILED", 3},
	{"06", "pending, delivered on the second requery", 200, "PENDING", "SUCCESS", 2},
	{"07", "pending, rejected on the second requery", 200, "PENDING", "FAILED", 2},
}

func TestEveryStoryEndsInTheTruth(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second))
		bundle := p.Bundle()
		for _, s := range stories {
			a := p.Buy(p.Order(bundle, "story-"+s.ending, s.ending)).Want(t, s.status)
			if s.status != http.StatusOK {
				if a.Message() != "Data purchase failed. Your balance has been refunded." {
					t.Errorf("%s: %s", s.name, a)
				}
				continue
			}
			tr := p.Bought(a)
			if tr.Status != s.first {
				t.Errorf("%s: %s", s.name, a)
			}
			if s.first == "PENDING" && a.Message() != "Data purchase is being confirmed. Do not retry; check the transaction status." {
				t.Errorf("%s: %s", s.name, a)
			}
		}
		p.Audit(t, apptest.DevFloat)
		// After a minute, the status requests at 5 s and at 30 s have been made. Next, let the resolver's
		// grace period end.
		p.Advance(time.Minute)
		if open := p.Open(); len(open) != 2 {
			t.Errorf("after a minute these are open: %+v", open)
		}
		p.Audit(t, apptest.DevFloat)
		p.Advance(15 * time.Minute)
		if open := p.Open(); len(open) != 0 {
			t.Errorf("after a quarter of an hour these are open: %+v", open)
		}
		for _, s := range stories {
			tr := p.Transaction("story-" + s.ending)
			o := p.Outcome(tr.TransactionID)
			again := s.asked == 3 // the provider did not know the purchase, so the purchase FAILED and is rechecked later
			if tr.Status != s.end || o.Status != s.end || o.Attempts < s.asked || (o.NextTryAt != nil) != again || o.NeedsDecision {
				t.Errorf("%s: ended %s, outcome %+v", s.name, tr.Status, o)
			}
		}
		if n := len(p.Audit(t, apptest.DevFloat)); n != len(stories) {
			t.Errorf("%d transactions", n)
		}
	})
}

// If an order is sent again after its purchase has ended, nothing is charged. The caller gets the
// first response again, even if that response was a refusal.
func TestARepeatedOrderGetsTheFirstAnswer(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		for _, ending := range []string{"10", "01", "04"} {
			order := p.Order(bundle, "again-"+ending, ending)
			first := p.Buy(order)
			order.PhoneNumber = "08000000010" // an order with the same key counts as the same order
			second := p.Buy(order)
			if second.Status != first.Status {
				t.Errorf("…%s: first %s, then %s", ending, first, second)
			}
			if first.Status != http.StatusOK {
				if second.Message() != first.Message() {
					t.Errorf("…%s: first %s, then %s", ending, first, second)
				}
				continue
			}
			one, two := p.Bought(first), p.Bought(second)
			if one.TransactionID != two.TransactionID || second.Message() != "Duplicate request — returning existing transaction" {
				t.Errorf("…%s: first %s, then %s", ending, first, second)
			}
		}
		p.Advance(10 * time.Second)
		if n := len(p.Audit(t, apptest.DevFloat)); n != 3 {
			t.Errorf("%d transactions", n)
		}
	})
}
