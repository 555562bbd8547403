package kobo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

// first is the outcome of each story at once, and last is the outcome after the status queries.
var stories = []struct{ story, first, last string }{
	{"10", "succeeded", "succeeded"},
	{"01", "declined", "declined"},
	{"02", "unknown", "succeeded"},
	{"03", "unknown", "declined"},
	{"04", "unknown", "succeeded"},
	{"05", "unknown", "declined"},
	{"06", "unknown", "succeeded"},
	{"07", "unknown", "declined"},
}

// name returns a word for an outcome.
func name(out kobo.Outcome) string {
	switch out := out.(type) {
	case kobo.Succeeded:
		return "succeeded"
	case kobo.Declined:
		if out.Reason != api.Declined {
			return "declined: " + string(out.Reason)
		}
		return "declined"
	case kobo.Unknown:
		return "unknown"
	}
	return "no outcome"
}

// Each story of the sandbox has the outcome that the providers' books show, at once and at the end.
func TestStories(t *testing.T) {
	s := start(t)
	c := s.client(kobo.Options{})
	shop := newShop(t, s, c)
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	var all sync.WaitGroup
	var mu sync.Mutex
	succeeded := map[string]bool{}
	for _, one := range stories {
		for kind, order := range map[string]func(context.Context) kobo.Outcome{
			"airtime": shop.airtime(one.story), "payout": shop.payout(one.story), "card": shop.funding(one.story),
		} {
			label := fmt.Sprintf("%s %s", kind, one.story)
			out := order(ctx)
			if name(out) != one.first {
				t.Errorf("%s: at first %s (%v), not %s", label, name(out), out, one.first)
			}
			all.Add(1)
			go func() {
				defer all.Done()
				if u, open := out.(kobo.Unknown); open {
					if u.Reference == "" {
						t.Errorf("%s: no reference: %v", label, u.Cause)
					}
					var err error
					if out, err = u.Follow(ctx); err != nil {
						t.Errorf("%s: %v", label, err)
					}
				}
				if name(out) != one.last {
					t.Errorf("%s: at last %s, not %s", label, name(out), one.last)
				}
				if declined, ok := out.(kobo.Declined); ok && declined.Reference == "" {
					t.Errorf("%s: declined without its reference: %v", label, declined)
				}
				if paid, ok := out.(kobo.Succeeded); ok {
					mu.Lock()
					succeeded[paid.Reference] = true
					mu.Unlock()
				}
			}()
		}
	}
	s.settle(&all)
	for reference, times := range s.executions() {
		if times > 1 || times == 1 != succeeded[reference] {
			t.Errorf("%s: executed %d times, and the client reports success: %v", reference, times, succeeded[reference])
		}
		delete(succeeded, reference)
	}
	if len(succeeded) > 0 {
		t.Errorf("the providers do not know %v", succeeded)
	}
}

// A payout with a lost key is not declined: the client finds the payout of its verification. A repeated
// order, as after a crash, has the outcome of the first.
func TestRepeatedPayout(t *testing.T) {
	s := start(t)
	c := s.client(kobo.Options{})
	order, key := newShop(t, s, c).validated("10"), kobo.NewKey()
	first, again := c.SendPayout(t.Context(), key, order), c.SendPayout(t.Context(), key, order)
	if name(first) != "succeeded" || again != first {
		t.Errorf("%v, and again %v", first, again)
	}
	u, open := c.SendPayout(t.Context(), kobo.NewKey(), order).(kobo.Unknown)
	if !open || u.Reference != order.VerifyID {
		t.Fatalf("%v", u)
	}
	if out, err := u.Follow(t.Context()); err != nil || out != first {
		t.Errorf("%v %v", out, err)
	}
	other := order
	other.Amount++
	if out := c.SendPayout(t.Context(), key, other); name(out) != "unknown" {
		t.Errorf("another order with the key: %v", out)
	}
	if times := s.executions()[order.VerifyID]; times != 1 {
		t.Errorf("executed %d times", times)
	}
}
