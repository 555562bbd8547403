package apptest_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A purchase is refused unless the balance is strictly greater than the price.
func TestTheBalanceMustExceedThePrice(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		equal, more := p.Account(p.Client, bundle.Price), p.Account(p.Client, bundle.Price+1)
		if a := equal.Buy(equal.Order(bundle, "equal", "10")).Want(t, http.StatusBadRequest); a.Message() != "Insufficient balance" {
			t.Errorf("a balance that equals the price: %s", a)
		}
		if tr := more.Bought(more.Buy(more.Order(bundle, "more", "10"))); tr.Status != "SUCCESS" {
			t.Errorf("a balance one kobo above the price: %+v", tr)
		}
		// The refusal for lack of money does not use up the order's key, so the same key works with an
		// account that has enough money.
		equal.SettlementID = p.SettlementID
		if tr := equal.Bought(equal.Buy(equal.Order(bundle, "equal", "10"))); tr.Status != "SUCCESS" {
			t.Errorf("the key of a refused order: %+v", tr)
		}
		if one := p.Balance(more.SettlementID); one != 1 {
			t.Errorf("the account that had one kobo more holds %s", one)
		}
		more.Audit(t, bundle.Price+1)
	})
}

// atOnce sends n parallel requests and returns their responses.
func atOnce(t *testing.T, n int, send func(i int) (apptest.Answer, error)) []apptest.Answer {
	t.Helper()
	answers := make([]apptest.Answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			var err error
			if answers[i], err = send(i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return answers
}

func TestOneKeyTwelveTimesAtOnceChargesOnce(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		for _, ending := range []string{"10", "04", "06"} {
			order := p.Order(bundle, "twelve-"+ending, ending)
			ids := map[string]bool{}
			for _, a := range atOnce(t, 12, func(int) (apptest.Answer, error) {
				return p.Try(context.Background(), http.MethodPost, apptest.PurchaseData, order)
			}) {
				switch {
				case a.Status == http.StatusOK:
					ids[p.Bought(a).TransactionID] = true
				case a.Status != http.StatusConflict || a.Body != `{"success":false,"message":"Duplicate request in flight"}`+"\n":
					t.Errorf("…%s: %s", ending, a)
				}
			}
			if len(ids) != 1 {
				t.Errorf("…%s: %d transactions for one key", ending, len(ids))
			}
		}
		if n := len(p.Audit(t, apptest.DevFloat)); n != 3 {
			t.Errorf("%d transactions for three keys", n)
		}
	})
}

// While the provider processes an order, a second order with the same key gets a conflict.
func TestAKeyInFlightIsAConflict(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		g := newGate()
		p := apptest.Start(t, dialect, apptest.Around(g.around))
		order := p.Order(p.Bundle(), "in-flight", "10")
		first := ask(t, p.Client, order)
		await(t, g.entered)
		p.Buy(order).Want(t, http.StatusConflict)
		if tr := p.Transaction("in-flight"); tr.Status != "PENDING" {
			t.Errorf("in flight: %+v", tr)
		}
		close(g.open)
		p.Bought(await(t, first))
		p.Audit(t, apptest.DevFloat)
	})
}

// If the balance is enough for five orders, exactly five of many parallel orders succeed.
func TestABalanceIsNeverSpentTwice(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		bundle := p.Bundle()
		c := p.Account(p.Client, 5*bundle.Price+1)
		got := map[string]int{}
		for _, a := range atOnce(t, 16, func(i int) (apptest.Answer, error) {
			return c.Try(context.Background(), http.MethodPost, apptest.PurchaseData, c.Order(bundle, fmt.Sprintf("race-%d", i), "10"))
		}) {
			got[fmt.Sprint(a.Status, " ", a.Message())]++
		}
		if got["200 Data purchase successful"] != 5 || got["400 Insufficient balance"] != 11 {
			t.Errorf("answers: %v", got)
		}
		c.Audit(t, 5*bundle.Price+1)
	})
}

// gate is a biller that delays each payment until the test releases it.
type gate struct {
	provider.Biller
	entered, open chan struct{}
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}, 100), open: make(chan struct{})}
}

// around wraps the biller that sells the data bundles in these tests.
func (g *gate) around(b provider.Biller) provider.Biller {
	if b.Name() != "Safe Haven" {
		return b
	}
	g.Biller = b
	return g
}

func (g *gate) Pay(ctx context.Context, p provider.Purchase) provider.Answer {
	g.entered <- struct{}{}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return g.Biller.Pay(ctx, p)
}

// await returns the next value of the channel, and fails the test if no value comes.
func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came within 20 seconds")
		panic("unreachable")
	}
}

// ask sends an order in the background. The returned channel receives the response.
func ask(t *testing.T, c *apptest.Client, o apptest.Order, headers ...string) <-chan apptest.Answer {
	answer := make(chan apptest.Answer, 1)
	go func() {
		a, err := c.Try(context.Background(), http.MethodPost, apptest.PurchaseData, o, headers...)
		if err != nil {
			t.Error(err)
		}
		answer <- a
	}()
	return answer
}
