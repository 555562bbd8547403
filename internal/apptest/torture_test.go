package apptest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// seed returns the seed of the random choices. It is KOBO_TEST_SEED, which repeats a failed
// run, or else a new seed.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64()
	if s := os.Getenv("KOBO_TEST_SEED"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("KOBO_TEST_SEED=%d", n)
	return n
}

// A program under load is killed at random moments, many times. A buyer that got no response sends
// the request again under the same key. At the end each key has one purchase. Each purchase was
// either delivered and paid for, or not delivered and refunded.
func TestAProgramKilledAtRandomLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		chance := rand.New(rand.NewPCG(seed(t), 0))
		home := apptest.NewHome(t, dialect)
		var keys ledgerOfKeys
		for round := range 5 {
			child := home.Spawn(t, apptest.Never, time.Second)
			bundle := child.Bundle()
			var buyers sync.WaitGroup
			for buyer := range 6 {
				own := rand.New(rand.NewPCG(chance.Uint64(), uint64(buyer)))
				buyers.Go(func() { keys.shop(child.Client, bundle, own, fmt.Sprintf("%d-%d", round, buyer)) })
			}
			fuse := time.NewTimer(time.Duration(100+chance.IntN(900)) * time.Millisecond)
			<-fuse.C
			child.Kill()
			buyers.Wait()
		}
		p := home.Start(t, apptest.Window(time.Second))
		p.Audit(t, apptest.DevFloat) // the ledger is correct while operations are still open
		p.Advance(5 * time.Minute)   // the killed programs' leases expire
		for range 4 {
			p.Advance(15 * time.Minute)
		}
		resolved(t, p.Client)
		transactions := p.Audit(t, apptest.DevFloat)
		keys.check(t, p.Client, transactions)
	})
}

// resolved waits until no operation is open.
func resolved(t *testing.T, c *apptest.Client) {
	t.Helper()
	apptest.Eventually(t, func() string {
		if open := c.Open(); len(open) > 0 {
			return fmt.Sprintf("%d operations are open, such as %+v", len(open), open[0])
		}
		return ""
	})
}

// ledgerOfKeys records every key that the buyers used, with the response.
type ledgerOfKeys struct {
	mu    sync.Mutex
	order []apptest.Order
	heard map[string]apptest.Answer
}

// shop buys until the program is killed. It sometimes repeats an earlier order that got no
// response.
func (l *ledgerOfKeys) shop(c *apptest.Client, b apptest.Bundle, chance *rand.Rand, name string) {
	for n := 0; ; n++ {
		o := l.pick(c, b, chance, name+"-"+strconv.Itoa(n))
		a, err := c.Try(context.Background(), http.MethodPost, apptest.PurchaseData, o, header, o.IdempotencyKey)
		if err != nil {
			return
		}
		if a.Status == http.StatusOK || a.Status == http.StatusBadRequest {
			l.mu.Lock()
			l.heard[o.IdempotencyKey] = a
			l.mu.Unlock()
		}
	}
}

// pick returns a new order, or an earlier order that got no response.
func (l *ledgerOfKeys) pick(c *apptest.Client, b apptest.Bundle, chance *rand.Rand, key string) apptest.Order {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard == nil {
		l.heard = map[string]apptest.Answer{}
	}
	if len(l.order) > 0 && chance.IntN(3) == 0 {
		old := l.order[chance.IntN(len(l.order))]
		if _, answered := l.heard[old.IdempotencyKey]; !answered {
			return old
		}
	}
	o := c.Order(b, key, []string{"10", "10", "10", "01", "02", "03", "04", "05", "06", "07"}[chance.IntN(10)])
	l.order = append(l.order, o)
	return o
}

// check compares the responses that the buyers got with the ledger and with the provider's records.
func (l *ledgerOfKeys) check(t *testing.T, c *apptest.Client, transactions []apptest.Transaction) {
	t.Helper()
	end := map[string]apptest.Transaction{}
	for _, tr := range transactions {
		if _, twice := end[tr.IdempotencyKey]; twice {
			t.Errorf("two purchases for the key %s", tr.IdempotencyKey)
		}
		end[tr.IdempotencyKey] = tr
	}
	states := map[string]int{}
	for _, o := range l.order {
		tr, began := end[o.IdempotencyKey]
		states[tr.Status]++
		a, answered := l.heard[o.IdempotencyKey]
		if !answered {
			continue
		}
		if !began {
			t.Errorf("%s was answered %s and is not in the books", o.IdempotencyKey, a)
			continue
		}
		said := "FAILED"
		if a.Status == http.StatusOK {
			said = c.Bought(a).Status
		}
		if said != "PENDING" && said != tr.Status {
			t.Errorf("%s was said to be %s and is %s", o.IdempotencyKey, said, tr.Status)
		}
	}
	t.Logf("%d keys, %d answered, ends: %v", len(l.order), len(l.heard), states)
	if states["SUCCESS"] == 0 || states["FAILED"] == 0 || states["PENDING"] > 0 {
		t.Errorf("ends: %v", states)
	}
}
