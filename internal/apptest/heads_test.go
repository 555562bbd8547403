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

// register counts which program asks the biller about which purchase.
type register struct {
	mu    sync.Mutex
	asked map[string]int // by our reference
	by    map[string]int // by the program's name
}

// at returns the option of a program that writes its questions into the register.
func (r *register) at(name string) apptest.Option {
	return apptest.Around(func(b provider.Biller) provider.Biller { return registered{b, r, name} })
}

type registered struct {
	provider.Biller
	in   *register
	name string
}

// Requery registers the question.
func (b registered) Requery(ctx context.Context, s provider.Sale) provider.Answer {
	b.in.mu.Lock()
	b.in.asked[s.Reference]++
	b.in.by[b.name]++
	b.in.mu.Unlock()
	return b.Biller.Requery(ctx, s)
}

// Two programs divide the work without a leader. Each open purchase is asked about once, by one of them.
func TestTwoProgramsDoNoWorkTwice(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		r := &register{asked: map[string]int{}, by: map[string]int{}}
		here, there := home.Start(t, r.at("here")), home.Start(t, r.at("there"))
		bundle := here.Bundle()
		const many = 30
		for i := range many {
			p := []*apptest.Program{here, there}[i%2]
			p.Bought(p.Buy(p.Order(bundle, fmt.Sprint("heads-", i), "04"))) // delivered, and the answer is lost
		}
		here.Advance(10 * time.Second)
		resolved(t, here.Client)
		r.mu.Lock()
		defer r.mu.Unlock()
		t.Logf("asked by each: %v", r.by)
		if len(r.asked) != many {
			t.Errorf("%d of %d purchases were asked about", len(r.asked), many)
		}
		for reference, n := range r.asked {
			if n != 1 {
				t.Errorf("%s was asked about %d times", reference, n)
			}
		}
		here.Audit(t, apptest.DevFloat)
	})
}

// A program dies while it works. When its lease is over, the other program does the work, once.
func TestTheWorkOfADeadProgramIsTakenOver(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		survivor, child := home.Start(t), home.Spawn(t, apptest.Asked, time.Second)
		bundle, bought := survivor.Bundle(), 0
		apptest.Eventually(t, func() string {
			for range 4 {
				survivor.Bought(survivor.Buy(survivor.Order(bundle, fmt.Sprint("heads-", bought), "04")))
				bought++
			}
			// The program that moves the clock looks at its jobs first. It dies, so no response comes.
			_, _ = child.Raw(t.Context(), http.MethodPost, "/sandbox/clock", map[string]string{"advance": "10s"})
			if _, err := child.Raw(t.Context(), http.MethodGet, "/healthz", nil); err == nil {
				return "the other program has asked nothing yet"
			}
			return ""
		})
		child.Dead()
		waiting := len(survivor.Open())
		if waiting == 0 {
			t.Error("the dead program has left no work")
		}
		survivor.Advance(3 * time.Minute) // its leases are over
		resolved(t, survivor.Client)
		if n := len(survivor.Audit(t, apptest.DevFloat)); n != bought {
			t.Errorf("%d purchases of %d", n, bought)
		}
		t.Logf("%d of %d purchases were left by the dead program", waiting, bought)
	})
}
