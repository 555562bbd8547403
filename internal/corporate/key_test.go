package corporate_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/provider"
)

// open begins a request with the Idempotency-Key "one". It returns the key and the stored response,
// or nil if no response is stored.
func (w *world) open(t *testing.T) (*idempotency.Key, *idempotency.Answer) {
	t.Helper()
	key, answer, err := w.keys.Open(t.Context(), w.company, "one", "print")
	must(t, err)
	key.Render(func(_ any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: 400, Body: []byte(fault.Of(err).Message)}
		}
		return idempotency.Answer{Status: 200, Body: []byte("done")}
	})
	return key, answer
}

// cutOff simulates a program that crashed before it stored its response. It then advances the clock
// until the Idempotency-Key may be used again, and opens the key.
func (w *world) cutOff(t *testing.T) *idempotency.Key {
	t.Helper()
	_, err := w.db.Exec(t.Context(), `UPDATE idempotency_key SET state = 'RUNNING' WHERE company_id = $1`, w.company)
	must(t, err)
	w.clock.Advance(time.Minute)
	key, answer := w.open(t)
	if answer != nil || key.Subject() == "" {
		t.Fatalf("the key is answered (%v), or of nothing", answer)
	}
	return key
}

func TestAKeyWaitsForTheAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request(w.proven(t))
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
		r.Key, _ = w.open(t)
		_, err := w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, notCreated)
		w.bank.found = account("8000000016")
		r.Key, _ = w.open(t) // the retry immediately continues the attempt
		a, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if _, answer := w.open(t); answer == nil || answer.Status != 200 {
			t.Errorf("the stored answer is %v", answer)
		}

		r.Key = w.cutOff(t)
		again, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if again.ID != a.ID || len(w.bank.opened) != 1 {
			t.Errorf("resumed: %+v, after %d requests to the bank", again, len(w.bank.opened))
		}
	})
}

func TestAKeyOfADuplicateOrARefusalIsResumed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		first, err := w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		must(t, err)
		r := w.request(w.proven(t))
		r.Key, _ = w.open(t)
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		r.Key = w.cutOff(t)
		again, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if again.ID != first.ID || len(w.bank.opened) != 2 {
			t.Errorf("resumed: %+v, after %d requests to the bank", again, len(w.bank.opened))
		}

		_, err = d.Exec(t.Context(), `UPDATE corporate_account SET state = 'FAILED', message = 'Unknown RC number' WHERE company_id = $1 AND state = 'DUPLICATE'`, w.company)
		must(t, err)
		r.Key = w.cutOff(t)
		_, err = w.GenerateAccount(t.Context(), r)
		because(t, err, "Unknown RC number")
		if _, answer := w.open(t); answer == nil || answer.Status != 400 {
			t.Errorf("the stored answer is %v", answer)
		}
	})
}
