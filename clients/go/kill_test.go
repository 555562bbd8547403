package kobo_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

// kills returns the number of kills: 10, or KOBO_CLIENT_KILLS.
func kills(t *testing.T) int {
	text := os.Getenv("KOBO_CLIENT_KILLS")
	if text == "" {
		return 10
	}
	return must(strconv.Atoi(text))(t)
}

// While clients order, the server dies again and again. At the end, the clients' outcomes, the books of
// the providers and the ledger of the company agree: no payment is lost, and none is made twice.
func TestKilledServer(t *testing.T) {
	s := start(t)
	c := s.client(kobo.Options{})
	shop := newShop(t, s, c)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	balance := func() (sum kobo.Kobo) {
		for _, account := range must(c.API().ListSettlementAccountsWithResponse(ctx, nil))(t).JSON200.Data {
			sum += account.Balance
		}
		return sum
	}
	before := balance()

	const workers = 6
	outcomes := make([][]kobo.Outcome, workers)
	end := make(chan struct{})
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				select {
				case <-end:
					return
				default:
					outcomes[w] = append(outcomes[w], finish(ctx, t, shop))
				}
			}
		}()
	}
	for range kills(t) {
		<-time.After(time.Duration(200+rand.IntN(800)) * time.Millisecond)
		s.kill()
		s.launch()
		s.advance("3m") // so that interrupted orders end soon, and new ones follow
	}
	close(end)
	s.settle(&all)
	succeeded, declined := map[string]bool{}, 0
	for _, list := range outcomes {
		for _, out := range list {
			switch out := out.(type) {
			case kobo.Succeeded:
				if succeeded[out.Reference] {
					t.Errorf("two orders are the payment %s", out.Reference)
				}
				succeeded[out.Reference] = true
			case kobo.Declined:
				declined++
				if out.Reason != api.Declined {
					t.Errorf("declined: %s %s", out.Reason, out.Message)
				}
			case kobo.Unknown:
				t.Errorf("still unknown: %v", out.Cause)
			}
		}
	}
	for reference, times := range s.executions() {
		if times > 1 || times == 1 != succeeded[reference] {
			t.Errorf("%s: executed %d times, and the client reports success: %v", reference, times, succeeded[reference])
		}
	}
	spent := kobo.Kobo(0)
	for entry, err := range c.LedgerEntries(ctx, api.ListLedgerEntriesParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Type == "debit" && entry.Status {
			if !succeeded[entry.Reference] {
				t.Errorf("%s is paid, and no client reports it", entry.Reference)
			}
			delete(succeeded, entry.Reference)
			spent += entry.Amount + entry.Fee
		}
	}
	if len(succeeded) > 0 {
		t.Errorf("%d payments are not in the ledger", len(succeeded))
	}
	if after := balance(); before-after != spent || spent == 0 {
		t.Errorf("the balance changed by %s, and the payments are %s", before-after, spent)
	}
	t.Logf("%d kills, %d orders declined, %s spent", kills(t), declined, spent)
}

// finish makes an order and follows it to its end. Some orders have a short deadline at first, as if the
// caller gave up early.
func finish(ctx context.Context, t *testing.T, shop *shop) kobo.Outcome {
	order := shop.airtime([]string{"10", "10", "10", "01", "04"}[rand.IntN(5)])
	first, stop := context.WithTimeout(ctx, time.Duration(20+rand.IntN(2000))*time.Millisecond)
	defer stop()
	out := order(first)
	u, open := out.(kobo.Unknown)
	if !open {
		return out
	}
	out, err := u.Follow(ctx)
	if err != nil {
		t.Errorf("follow: %v", err)
	}
	return out
}
