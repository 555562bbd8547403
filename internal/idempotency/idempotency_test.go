package idempotency_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// drawer has the Idempotency-Keys of one company, and a clock that the test moves.
type drawer struct {
	*idempotency.Service
	t       *testing.T
	db      *db.DB
	book    *ledger.Book
	clock   *clock.Manual
	company string
}

func each(t *testing.T, f func(t *testing.T, d *drawer)) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		d := &drawer{t: t, db: database, book: ledger.New(database, clk), clock: clk, company: id.Cuid()}
		d.Service = idempotency.NewService(database, d.book, clk, ring)
		d.commit(ledger.Found(d.company))
		f(t, d)
	})
}

// with returns a new unit. Each of the given functions adds its use of an Idempotency-Key to this
// unit.
func (d *drawer) with(parts ...func(u *ledger.Unit)) ledger.Unit {
	u := ledger.For(d.company)
	for _, part := range parts {
		part(&u)
	}
	return u
}

func begun(k *idempotency.Key, subject string, until time.Time) func(u *ledger.Unit) {
	return func(u *ledger.Unit) { k.Begin(u, subject, until) }
}

func answered(k *idempotency.Key, result any) func(u *ledger.Unit) {
	return func(u *ledger.Unit) { k.Answer(u, result, nil) }
}

func finished(k *idempotency.Key, result any) func(u *ledger.Unit) {
	return func(u *ledger.Unit) { k.Finish(u, result, nil) }
}

func (d *drawer) commit(u ledger.Unit) {
	d.t.Helper()
	if err := d.book.Commit(d.t.Context(), u); err != nil {
		d.t.Fatal(err)
	}
}

// key opens an Idempotency-Key that has no stored response.
func (d *drawer) key(value string) *idempotency.Key {
	d.t.Helper()
	k, a, err := d.Open(d.t.Context(), d.company, value, "print")
	if err != nil || a != nil || k == nil {
		d.t.Fatalf("a key to use: %v %v %v", k, a, err)
	}
	k.Render(func(result any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: http.StatusBadRequest, Body: []byte(err.Error())}
		}
		b, err := json.Marshal(result)
		if err != nil {
			panic(err)
		}
		return idempotency.Answer{Status: http.StatusOK, Body: b}
	})
	return k
}

// stored fails the test unless the Idempotency-Key has this stored response.
func (d *drawer) stored(value, want string) {
	d.t.Helper()
	_, a, err := d.Open(d.t.Context(), d.company, value, "print")
	if err != nil || a == nil || fmt.Sprint(a.Status, " ", string(a.Body)) != want {
		d.t.Errorf("%s: %+v %v, want %s", value, a, err, want)
	}
}

// refused fails the test unless Open refuses the Idempotency-Key with this kind of fault.
func (d *drawer) refused(value, fingerprint string, want fault.Kind) {
	d.t.Helper()
	if k, a, err := d.Open(d.t.Context(), d.company, value, fingerprint); !fault.Is(err, want) {
		d.t.Errorf("%s: %v %v %v, want %s", value, k, a, err, want)
	}
}

func TestAKeyGoesFromRunningToItsAnswer(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		k := d.key("k")
		if k.Subject() != "" {
			t.Errorf("a new key has the subject %q", k.Subject())
		}
		until := d.clock.Now().Add(time.Minute)
		d.commit(d.with(begun(k, "thing", until)))
		d.refused("k", "print", fault.Conflict)
		d.refused("k", "another print", fault.Mismatch)
		d.commit(d.with(finished(k, map[string]int{"n": 1})))
		d.stored("k", `200 {"n":1}`)
		d.refused("k", "another print", fault.Mismatch)
		other, a, err := d.Open(t.Context(), id.Cuid(), "k", "print")
		if err != nil || a != nil || other == nil {
			t.Errorf("another company's key: %v %v %v", other, a, err)
		}
	})
}

// When the time limit of an interrupted request is over, a repetition of the request continues it.
// The repetition uses the object that the interrupted request created.
func TestAnInterruptedRequestIsContinued(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		dead := d.key("k")
		d.commit(d.with(begun(dead, "thing", d.clock.Now().Add(time.Minute))))
		d.clock.Advance(time.Minute - time.Microsecond)
		d.refused("k", "print", fault.Conflict)
		d.clock.Advance(time.Microsecond)
		heir := d.key("k")
		if heir.Subject() != "thing" {
			t.Errorf("the heir has the subject %q", heir.Subject())
		}
		d.commit(d.with(finished(heir, "found")))
		d.stored("k", `200 "found"`)
		// The interrupted request was only slow. The response of the interrupted request comes too
		// late and is not stored.
		err := d.book.Commit(t.Context(), d.with(finished(dead, "late")))
		if r := ledger.Refused(err); r == nil || r.Reason != ledger.Moved {
			t.Errorf("a second answer: %v", err)
		}
		if err := d.Finish(t.Context(), dead, "late", nil); err != nil {
			t.Errorf("Finish: %v", err)
		}
		d.stored("k", `200 "found"`)
	})
}

// A request began while the clock was ten days ahead. After the clock is right, a repetition continues it an hour after the first
// repetition, and not at once, because the program with the clock ahead may still execute it. That program still stores its response.
func TestARequestOfAClockAheadIsContinued(t *testing.T) {
	const ahead = 10 * 24 * time.Hour
	for _, isAlive := range []bool{true, false} {
		each(t, func(t *testing.T, d *drawer) {
			d.clock.Jump(ahead)
			first := d.key("k")
			d.commit(d.with(begun(first, "thing", d.clock.Now().Add(time.Minute))))
			d.clock.Jump(-ahead)
			for range 4 {
				d.refused("k", "print", fault.Conflict)
				d.clock.Advance(15*time.Minute - time.Microsecond)
			}
			d.refused("k", "print", fault.Conflict)
			if isAlive {
				d.commit(d.with(finished(first, 1)))
				d.stored("k", "200 1")
				return
			}
			d.clock.Advance(4 * time.Microsecond)
			heir := d.key("k")
			if heir.Subject() != "thing" {
				t.Errorf("the heir has the subject %q", heir.Subject())
			}
			d.commit(d.with(finished(heir, 2)))
			d.stored("k", "200 2")
		})
	}
}

func TestAnswersInOneUnitAndAfterwards(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		k := d.key("at once")
		d.commit(d.with(answered(k, "done")))
		d.stored("at once", `200 "done"`)

		k = d.key("finished")
		d.commit(d.with(begun(k, "x", d.clock.Now().Add(time.Minute))))
		if err := d.Finish(t.Context(), k, nil, errors.New("no")); err != nil {
			t.Fatal(err)
		}
		d.stored("finished", "400 no")

		k = d.key("frozen")
		for _, text := range []string{"first", "second"} { // the first response stays
			if err := d.Freeze(t.Context(), k, idempotency.Answer{Status: http.StatusBadRequest, Body: []byte(text)}); err != nil {
				t.Fatal(err)
			}
		}
		d.stored("frozen", "400 first")
	})
}

// Without an Idempotency-Key, the methods of a nil Key change nothing.
func TestARequestWithoutAKeyDoesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		var none *idempotency.Key
		none.Render(nil)
		if none.Subject() != "" || !empty(d.with(begun(none, "x", d.clock.Now()), answered(none, 1), finished(none, 1))) {
			t.Error("no key claims something")
		}
		if err := errors.Join(d.Finish(t.Context(), none, 1, nil), d.Freeze(t.Context(), none, idempotency.Answer{})); err != nil {
			t.Error(err)
		}
	})
}

// Only one of several concurrent requests uses the Idempotency-Key. The units of the others are
// refused, whatever else they contain, so those requests must be repeated.
func TestOneConcurrentRequestUsesTheKey(t *testing.T) {
	each(t, func(t *testing.T, d *drawer) {
		keys := make([]*idempotency.Key, 8)
		for i := range keys {
			keys[i] = d.key("k")
		}
		var all sync.WaitGroup
		errs := make([]error, len(keys))
		for i, k := range keys {
			all.Go(func() {
				errs[i] = idempotency.Taken(d.book.Commit(t.Context(), d.with(begun(k, fmt.Sprint(i), d.clock.Now().Add(time.Minute)))))
			})
		}
		all.Wait()
		taken := 0
		for _, err := range errs {
			if err == nil {
				taken++
			} else if !fault.Is(err, fault.Conflict) {
				t.Errorf("one of the others was told %v", err)
			}
		}
		if taken != 1 {
			t.Errorf("%d took the key", taken)
		}
		plain := errors.New("something else")
		if idempotency.Taken(plain) != plain || idempotency.Taken(nil) != nil {
			t.Error("Taken changes errors that are not its own")
		}
	})
}

func empty(u ledger.Unit) bool { return u.IsEmpty() }
