package apptest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
)

// payment is one kind of payment that a company makes through a provider.
type payment struct {
	name   string
	amount money.Kobo
	pay    func() (reference string)
}

// payments returns every kind of payment: a purchase at each biller, a payout and a card
// funding.
func payments(t *testing.T, p *apptest.Program) []payment {
	t.Helper()
	gotv := p.Category("Cable TV", "Gotv Payment")
	bundle, smallie := p.Bundle(), p.Product(gotv, "GOtv Smallie N1,900")
	smartcard, verifyID, cardID := p.Verify(t, gotv, "7012345678"), verify(t, p.Client, "10"), cardOf(t, p.Client)
	return []payment{
		{"a purchase at Safe Haven", bundle.Price, func() string {
			return p.Bought(p.Buy(p.Order(bundle, "late-data", "10"))).TransactionID
		}},
		{"a purchase at VTpass", smallie.Price, func() string {
			return p.Bought(p.Pay(p.TV(smartcard, smallie.Product, "late-tv", "7012345678"))).TransactionID
		}},
		{"a payout", 1000 * money.Naira, func() string {
			send(p.Client, verifyID, 1000).Want(t, http.StatusOK)
			return verifyID
		}},
		{"a card funding", 1500 * money.Naira, func() string {
			var said struct{ Data struct{ Reference string } }
			p.Do(http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": cardID, "amount": 1500}).
				Want(t, http.StatusBadRequest).Into(t, &said)
			return said.Data.Reference
		}},
	}
}

// late makes the provider execute the next payment later than it is requested.
func late(t *testing.T, p *apptest.Program, by time.Duration) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox/next-payment", map[string]string{"late": by.String()})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
}

// contradictions returns the references of the open cases with the reason Contradiction.
func contradictions(t *testing.T, p *apptest.Program) map[string]bool {
	t.Helper()
	filter := operation.CaseFilter{State: operation.Open, Company: p.Reference, Reason: operation.Contradiction}
	list, _, err := p.App.Operations.Cases(t.Context(), filter, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, c := range list {
		if out[c.Subject] {
			t.Errorf("two cases of %s", c.Subject)
		}
		out[c.Subject] = true
	}
	return out
}

// A provider replies that it does not know a payment, so the company gets a refund. The provider
// executes the payment after the refund. The next recheck of the failed payment finds this, at
// every provider, and opens a case. Operators decide the case, and no money moves automatically.
func TestAPaymentAfterTheRefundIsFound(t *testing.T) {
	for name, s := range map[string]struct {
		late  time.Duration   // time from the request to its execution
		moves []time.Duration // moves of the clock after the refund; the recheck after the last move finds the payment
		asked int             // the number of rechecks
	}{
		"after an hour": {20 * time.Minute, []time.Duration{10 * time.Minute, time.Hour}, 1},
		"after a day":   {3 * time.Hour, []time.Duration{time.Hour, 3 * time.Hour, 21 * time.Hour}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, dialect db.Dialect) {
				p := apptest.Start(t, dialect, apptest.Window(4*time.Second), apptest.Routes("CABLE_TV/GOTV=vtpass"))
				all := payments(t, p)
				references := map[string]payment{}
				for _, v := range all {
					late(t, p, s.late)
					references[v.pay()] = v
				}
				p.Advance(16 * time.Minute)
				polls := refunded(t, p, references)
				for i, move := range s.moves {
					if found := contradictions(t, p); len(found) != 0 {
						t.Fatalf("cases before move %d: %v", i, found)
					}
					p.Advance(move)
				}
				apptest.Eventually(t, func() string {
					if n := len(contradictions(t, p)); n != len(references) {
						return fmt.Sprintf("%d cases", n)
					}
					return ""
				})
				p.Advance(48 * time.Hour) // no further recheck is made, and no second case opens
				found, sales := contradictions(t, p), p.Sales()
				for reference, v := range references {
					o := p.Outcome(reference)
					if !found[reference] || !o.NeedsDecision || o.NextTryAt != nil {
						t.Errorf("%s: case %t, outcome %+v", v.name, found[reference], o)
					}
					if o.Status != "FAILED" || o.Attempts != polls[reference]+s.asked {
						t.Errorf("%s: %+v, asked %d times before", v.name, o, polls[reference])
					}
					if sales[reference].Executions != 1 || sales[reference].Amount != v.amount {
						t.Errorf("%s: the provider has %+v", v.name, sales[reference])
					}
				}
				holds(t, p, p.Client, apptest.DevFloat)
			})
		})
	}
}

// refunded waits until no operation is open. It checks that each operation is FAILED and that its
// recheck is due an hour later. It returns the number of status requests for each operation.
func refunded(t *testing.T, p *apptest.Program, references map[string]payment) map[string]int {
	t.Helper()
	polls := map[string]int{}
	apptest.Eventually(t, func() string {
		if open := p.Open(); len(open) != 0 {
			return fmt.Sprintf("open: %+v", open)
		}
		return ""
	})
	for reference, v := range references {
		o := p.Outcome(reference)
		if o.Status != "FAILED" || o.NextTryAt == nil || !o.NextTryAt.Equal(o.UpdatedAt.Add(time.Hour)) {
			t.Errorf("%s: %+v", v.name, o)
		}
		polls[reference] = o.Attempts
	}
	holds(t, p, p.Client, apptest.DevFloat)
	return polls
}
