package idempotency_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
)

var no = idempotency.Answer{Status: http.StatusBadRequest, Body: []byte("no")}

// settled calls Settle with the refusal "no". It returns the response, or the kind of the fault.
func (d *drawer) settled(k *idempotency.Key) string {
	a, err := d.Settle(d.t.Context(), k, no)
	if err != nil {
		return string(fault.Of(err).Kind)
	}
	return fmt.Sprint(a.Status, " ", string(a.Body))
}

func TestOneAnswerStandsForAKey(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		first, twin, other := d.key("k"), d.key("k"), d.key("k")
		d.commit(d.with(begun(first, "thing", d.clock.Now().Add(time.Minute))))
		if got := d.settled(twin); got != "conflict" {
			t.Errorf("beside a request at work: %s", got)
		}
		d.clock.Advance(time.Hour)
		if got := d.settled(twin); got != "conflict" {
			t.Errorf("beside a request that was cut off: %s", got)
		}
		if heir := d.key("k"); d.settled(heir) != "400 no" {
			t.Error("the heir of a request that was cut off may speak")
		}
		if got := d.settled(first); got != "400 no" {
			t.Errorf("the request itself, while its answer may change: %s", got)
		}
		d.commit(d.with(finished(first, "yes")))
		for _, k := range []*idempotency.Key{first, twin, other} {
			if got := d.settled(k); got != `200 "yes"` {
				t.Errorf("once it is answered: %s", got)
			}
		}
	})
}

func TestARefusalStandsOnceItIsStored(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		k := d.key("k")
		stranger, _, err := d.Open(t.Context(), d.company, "k", "another print")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.settled(k); got != "400 no" {
			t.Errorf("a refusal: %s", got)
		}
		d.stored("k", "400 no")
		if got := d.settled(stranger); got != "mismatch" {
			t.Errorf("another request with the key: %s", got)
		}
	})
}

// A refusal that only says that an earlier request has no outcome yet leaves the key free. Beside a request with the same key it is
// a conflict, as each other refusal is.
func TestAPassingRefusalIsNotStored(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		passing := idempotency.Answer{Status: http.StatusBadRequest, Body: []byte("not yet"), Passing: true}
		first, twin := d.key("k"), d.key("k")
		if a, err := d.Settle(t.Context(), first, passing); err != nil || string(a.Body) != "not yet" {
			t.Errorf("%q %v", a.Body, err)
		}
		next := d.key("k")
		d.commit(d.with(begun(next, "thing", d.clock.Now().Add(time.Minute))))
		if _, err := d.Settle(t.Context(), twin, passing); !errors.Is(err, idempotency.ErrInFlight) {
			t.Errorf("beside a request at work: %v", err)
		}
		d.commit(d.with(finished(next, "yes")))
		d.stored("k", `200 "yes"`)
		if a, err := d.Settle(t.Context(), twin, passing); err != nil || string(a.Body) != `"yes"` {
			t.Errorf("beside an answer: %q %v", a.Body, err)
		}
	})
}

// The unit of Finish stores nothing under a key for which no unit of Begin was committed. Settle stores the response then, so that a
// repeated request gets it. A unit of Begin that the ledger has refused began nothing.
func TestAnAnswerIsStoredUnderAKeyThatWasNotBegun(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		for name, use := range map[string]func(k *idempotency.Key) error{
			"finished": func(k *idempotency.Key) error { return d.Finish(t.Context(), k, "yes", nil) },
			"released": func(k *idempotency.Key) error {
				return ledger.Except(d.book.Commit(t.Context(), d.with(k.Release)), ledger.Moved)
			},
			"refused": func(k *idempotency.Key) error {
				u := d.with(begun(k, "thing", d.clock.Now().Add(time.Minute)), func(u *ledger.Unit) { u.Count("places", 2, 1) })
				return ledger.Except(d.book.Commit(t.Context(), u), ledger.Over)
			},
		} {
			k := d.key(name)
			if err := use(k); err != nil || k.Committed() {
				t.Fatalf("%s: %v", name, err)
			}
			if got := d.settled(k); got != "400 no" {
				t.Errorf("%s: %s", name, got)
			}
			d.stored(name, "400 no")
		}
	})
}

// If the database is unavailable, Settle cannot store a refusal, so it returns Unavailable instead.
// After the unit of Begin, Settle returns the response, because that request has used its key.
func TestNoRefusalStandsWithoutTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		k, other := d.key("k"), d.key("begun")
		d.commit(d.with(begun(other, "thing", d.clock.Now().Add(time.Minute))))
		d.db.Close()
		if got := d.settled(k); got != "unavailable" {
			t.Errorf("a refusal that could not be stored: %s", got)
		}
		if got := d.settled(other); got != "400 no" {
			t.Errorf("a request that has begun: %s", got)
		}
	})
}

// A request that runs without a look-up of its Idempotency-Key commits nothing if the key was used
// before. Open then returns the stored response.
func TestAnUnreadKeyIsRefusedByTheLedger(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		first := d.Unread(d.company, "k", "print")
		first.Render(func(any, error) idempotency.Answer { return idempotency.Answer{Status: 200, Body: []byte("yes")} })
		d.commit(d.with(answered(first, nil)))
		if !first.Committed() || d.settled(first) != "200 yes" {
			t.Error("the request does not know its own response")
		}
		again := d.Unread(d.company, "k", "print")
		err := d.book.Commit(t.Context(), d.with(begun(again, "thing", d.clock.Now().Add(time.Minute))))
		if idempotency.Taken(err) != idempotency.ErrInFlight || again.Committed() {
			t.Errorf("a used key: %v", err)
		}
		d.stored("k", "200 yes")
	})
}
