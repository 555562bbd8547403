package card_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// firstLoad is the initial funding of the orders of these tests.
const firstLoad = 400 * money.Naira

// order sends an order of a card with an initial funding and an Idempotency-Key, if value is not "". It returns the response that
// the API sends, and whether that response was stored before.
func (w *world) order(value string) (body string, isStored bool, err error) {
	ctx, r := context.WithoutCancel(w.t.Context()), w.request()
	r.Load = firstLoad
	if value == "" {
		_, err = w.Generate(ctx, r)
		return "", false, err
	}
	key, stored, err := w.keys.Open(ctx, w.company, value, "print")
	if err != nil || stored != nil {
		return bodyOf(stored), stored != nil, err
	}
	key.Render(func(result any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: http.StatusBadRequest, Body: []byte(fault.Of(err).Message)}
		}
		text, err := json.Marshal(result)
		if err != nil {
			panic(err)
		}
		return idempotency.Answer{Status: http.StatusOK, Body: text}
	})
	r.Key = key
	g, err := w.Generate(ctx, r)
	if err != nil {
		return "", false, err
	}
	text, err := json.Marshal(g)
	if err != nil {
		return "", false, err
	}
	a, err := w.keys.Settle(ctx, key, idempotency.Answer{Status: http.StatusOK, Body: text})
	return bodyOf(&a), false, err
}

func bodyOf(a *idempotency.Answer) string {
	if a == nil {
		return ""
	}
	return string(a.Body)
}

// loaded checks that a response shows the initial funding of its card.
func (w *world) loaded(body string) (g card.Generated) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(body), &g); err != nil || g.Load == nil || g.Load.Reference != g.CardID || g.CardID == "" {
		w.t.Errorf("the response is %s, %v", body, err)
	}
	return g
}

// lost sends an order whose outcome nobody knows: the issuer's reply is lost, and its list cannot be read. Then the issuer is well again.
func (w *world) lost(value string) {
	w.t.Helper()
	w.card() // from now on, the customer is registered with the issuer
	w.issuer.create, w.issuer.made, w.issuer.broken = silence, true, errAway
	_, _, err := w.order(value)
	w.refused(err, creating)
	w.issuer.create, w.issuer.broken = yes, nil
	w.forward(time.Minute)
}

// The reply to an order is lost, and the company repeats the order under a new key. The new key belongs to the card that the first
// order has made: while its request runs, a parallel one gets a conflict, and a later one gets the card and not another.
func TestANewKeyOfALostOrderBelongsToItsCard(t *testing.T) {
	for name, isCutOff := range map[string]bool{"answered": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				w.lost("")
				var isEntered atomic.Bool
				entered, leave, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
				w.issuer.during = func() {
					if isEntered.CompareAndSwap(false, true) {
						close(entered)
						<-leave
					}
				}
				go func() { defer close(done); _, _, _ = w.order("new") }()
				<-entered
				if _, _, err := w.order("new"); !errors.Is(err, idempotency.ErrInFlight) {
					t.Errorf("a parallel request: %v", err)
				}
				if !isCutOff {
					close(leave)
					<-done
				}
				w.forward(time.Minute) // a program that stops here would never answer
				body, isStored, err := w.order("new")
				if must(t, err); isStored == isCutOff {
					t.Errorf("stored: %t", isStored)
				}
				g := w.loaded(body)
				if isCutOff {
					close(leave)
					<-done
				}
				again, isStored, err := w.order("new")
				if must(t, err); again != body || !isStored {
					t.Errorf("the stored response is %s, want %s", again, body)
				}
				if len(w.issuer.orders) != 2 || len(w.issuer.funded) != 1 || g.ProviderCardID != "sudo-card-2" {
					t.Errorf("%d orders, %d fundings: %+v", len(w.issuer.orders), len(w.issuer.funded), g)
				}
				w.holds(600*money.Naira, 0, firstLoad)
			})
		})
	}
}

// Twenty repetitions of an order send the initial funding of its card at once. It is debited once, and every response shows it.
func TestTwentyRepetitionsOfAnOrderLoadItsCardOnce(t *testing.T) {
	for name, answer := range map[string]provider.Answer{"an outcome": yes, "no outcome": silence} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				w.lost("one")
				jobs, err := db.All(t.Context(), d, db.Value[string], `SELECT subject FROM job WHERE kind = $1`, card.ResolveJob)
				must(t, err)
				for _, subject := range slices.Compact(jobs) { // the job finds the card
					_, err := w.Resolve(t.Context(), job.Job{Company: w.company, Kind: card.ResolveJob, Subject: subject})
					must(t, err)
				}
				w.issuer.answer = answer
				var all sync.WaitGroup
				var mu sync.Mutex
				bodies := map[string]int{}
				for range 20 {
					all.Go(func() {
						body, _, err := w.order("one")
						mu.Lock()
						defer mu.Unlock()
						if err != nil {
							t.Errorf("a repetition: %v", err)
						}
						bodies[body]++
					})
				}
				all.Wait()
				stored, isStored, err := w.order("one")
				if must(t, err); !isStored || bodies[stored] != 20 {
					t.Errorf("the responses are %v, and %s is stored", bodies, stored)
				}
				w.loaded(stored)
				clearing, paid := money.Kobo(0), firstLoad
				if answer.Outcome != provider.Confirmed {
					clearing, paid = firstLoad, 0
				}
				if w.holds(600*money.Naira, clearing, paid); len(w.issuer.funded) != 1 || len(w.issuer.orders) != 2 {
					t.Errorf("%d orders, %d fundings", len(w.issuer.orders), len(w.issuer.funded))
				}
			})
		})
	}
}
