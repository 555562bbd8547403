package collection_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

// lost sends a request for which the bank opens an account, but the bank's reply is lost. It
// returns the opened account.
func (h *house) lost(r collection.Request) provider.AccountAnswer {
	h.t.Helper()
	var opened provider.AccountAnswer
	h.bank.next = func(a *provider.VirtualAccountAnswer) {
		opened = provider.AccountAnswer{Answer: a.Answer, Account: a.Account}
		*a = provider.VirtualAccountAnswer{}
	}
	if _, err := h.Generate(h.t.Context(), r); !fault.Is(err, fault.Unavailable) {
		h.t.Fatal(err)
	}
	return opened
}

func TestALostAnswerOpensNoSecondAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.held = h.lost(h.asks("order-1", 5000))
		c := h.generates(h.asks("order-1", 5000))
		if c.AccountNumber != h.bank.held.Number || !c.ExpiresAt.Equal(h.clock.Now().Add(15*time.Minute)) {
			t.Errorf("%+v, and the bank holds %+v", c, h.bank.held)
		}
		if len(h.bank.seen) != 1 || len(h.bank.look) != 1 || h.bank.look[0] != h.bank.seen[0].Reference {
			t.Errorf("asked for %+v, looked for %q", h.bank.seen, h.bank.look)
		}
		h.pays("s-1", c.AccountNumber, 5000)
		h.is(c, collection.Success, 5000)
	})
}

func TestAListThatCannotBeReadOpensNoSecondAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.lost(h.asks("order-1", 5000))
		h.bank.held = provider.AccountAnswer{}
		if _, err := h.Generate(t.Context(), h.asks("order-1", 5000)); !fault.Is(err, fault.Unavailable) || len(h.bank.seen) != 1 {
			t.Errorf("%v, and the bank was asked %d times", err, len(h.bank.seen))
		}
	})
}

func TestTheJobFindsAnAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.held = h.lost(h.asks("order-1", 5000))
		h.passes(time.Minute)
		looks := len(h.bank.look)
		c := h.generates(h.asks("order-1", 5000))
		if c.State != collection.Pending || c.AccountNumber != h.bank.held.Number || looks != 1 || len(h.bank.look) != 1 || len(h.bank.seen) != 1 {
			t.Errorf("%+v; looked for %q, asked %d times", c, h.bank.look, len(h.bank.seen))
		}
		h.pays("s-1", c.AccountNumber, 5000)
		h.is(c, collection.Success, 5000)
	})
}

// If the bank does not know the requested account, the opening ends after fifteen minutes and at
// least three searches. The job does not search for an expired account.
func TestAnAccountThatWasNotOpenedIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		valid time.Duration
		looks int
	}{"gone": {time.Hour, 4}, "expired": {10 * time.Minute, 2}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				r := h.asks("order-1", 5000)
				r.ValidFor = c.valid
				h.lost(r)
				for range 30 {
					h.passes(time.Minute)
				}
				looks := len(h.bank.look)
				if looks != c.looks {
					t.Errorf("%d looks", looks)
				}
				h.passes(10 * time.Hour)
				c := h.generates(r)
				if len(h.bank.look) != looks || len(h.bank.seen) != 2 || h.bank.seen[0].Reference == h.bank.seen[1].Reference {
					t.Errorf("looked for %q, asked for %+v", h.bank.look, h.bank.seen)
				}
				h.is(c, collection.Pending, 0)
			})
		})
	}
}

func TestTheJobAndTheCompanyRace(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.held = h.lost(h.asks("order-1", 5000))
		h.clock.Advance(10 * time.Second)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c, err := h.Generate(context.Background(), h.asks("order-1", 5000))
				if err == nil && c.AccountNumber != h.bank.held.Number || err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("%+v, %v", c, err)
				}
			})
		}
		all.Wait()
		h.passes(0)
		c := h.generates(h.asks("order-1", 5000))
		if c.State != collection.Pending || len(h.bank.seen) != 1 {
			t.Errorf("%+v, and the bank was asked %d times", c, len(h.bank.seen))
		}
	})
}

// resolve runs a ResolveJob.
func (h *house) resolve(ctx context.Context, j job.Job) (time.Time, error) {
	next, err := h.Resolve(ctx, j)
	if h.resolved != nil {
		h.resolved(j)
	}
	return next, err
}

// The job of an attempt whose account has expired may end just after the company's next attempt has begun. The next
// attempt has a job of its own, so the bank is asked about it too.
func TestTheJobOfASecondAttemptStays(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.asks("order-1", 5000)
		r.ValidFor = 5 * time.Minute
		h.lost(r)
		h.clock.Advance(10 * time.Minute) // no worker has looked, and the account has expired
		h.resolved = func(job.Job) {
			h.resolved = nil
			h.bank.held = h.lost(r)
		}
		h.passes(0)
		h.passes(time.Minute)
		if len(h.bank.seen) != 2 || len(h.bank.look) != 1 || h.bank.look[0] != h.bank.seen[1].Reference {
			t.Errorf("asked for %+v, looked for %q", h.bank.seen, h.bank.look)
		}
		c := h.generates(r)
		if c.AccountNumber != h.bank.held.Number || len(h.bank.seen) != 2 {
			t.Errorf("%+v, and the bank holds %+v", c, h.bank.held)
		}
	})
}

// A job of an earlier release names only the collection. It finds the account of the present attempt.
func TestAJobWithoutAReferenceFindsAnAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.held = h.lost(h.asks("order-1", 5000))
		if _, err := h.db.Exec(t.Context(), `UPDATE job SET subject = substr(subject, 1, length(subject) - length($2) - 1)
			WHERE company_id = $1 AND kind = 'collection.resolve'`, h.main.Company, h.bank.seen[0].Reference); err != nil {
			t.Fatal(err)
		}
		h.passes(time.Minute)
		if len(h.bank.look) != 1 || h.generates(h.asks("order-1", 5000)).AccountNumber != h.bank.held.Number {
			t.Errorf("looked for %q", h.bank.look)
		}
	})
}
