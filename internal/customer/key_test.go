package customer_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/provider"
)

// open begins a request. The parameter value is the Idempotency-Key. open returns the opened key
// and the stored response, or nil if no response is stored.
func (w *world) open(t *testing.T, value string) (*idempotency.Key, *idempotency.Answer) {
	t.Helper()
	key, answer, err := w.keys.Open(t.Context(), w.company, value, "print")
	must(t, err)
	key.Render(func(_ any, err error) idempotency.Answer {
		if err != nil {
			return idempotency.Answer{Status: 400, Body: []byte(fault.Of(err).Message)}
		}
		return idempotency.Answer{Status: 200, Body: []byte("done")}
	})
	return key, answer
}

// cutOff simulates a program that crashed before it stored its responses. It then advances the
// clock until a retry is allowed, and begins the retry. The parameter value is the Idempotency-Key.
func (w *world) cutOff(t *testing.T, value string) *idempotency.Key {
	t.Helper()
	_, err := w.db.Exec(t.Context(), `UPDATE idempotency_key SET state = 'RUNNING' WHERE company_id = $1`, w.company)
	must(t, err)
	w.clock.Advance(time.Minute)
	key, answer := w.open(t, value)
	if answer != nil || key.Subject() == "" {
		t.Fatalf("the key is answered (%v), or of nothing", answer)
	}
	return key
}

// The retry of an interrupted request does not send a second OTP.
func TestACreationIsResumed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.registration("ada@example.test")
		w.bank.start = provider.Answer{Outcome: provider.Rejected, Message: "No such number"}
		r.Key, _ = w.open(t, "refused")
		_, err := w.Create(t.Context(), r)
		want(t, err, fault.Refused, "No such number")
		r.Key = w.cutOff(t, "refused")
		_, err = w.Create(t.Context(), r)
		want(t, err, fault.Refused, "Unable to initiate BVN") // the provider's message of the first request is lost

		w.bank.start = provider.Answer{}
		r.Key, _ = w.open(t, "created")
		made, err := w.Create(t.Context(), r)
		must(t, err)
		if _, answer := w.open(t, "created"); answer == nil || answer.Status != 200 {
			t.Errorf("the stored answer is %v", answer)
		}
		r.Key = w.cutOff(t, "created")
		again, err := w.Create(t.Context(), r)
		must(t, err)

		key, _ := w.open(t, "resent")
		_, err = w.Resend(t.Context(), w.company, made.Customer.ID, key)
		must(t, err)
		_, err = w.Resend(t.Context(), w.company, made.Customer.ID, w.cutOff(t, "resent"))
		want(t, err, fault.Refused, "Unable to retry")
		if again.Customer.ID != made.Customer.ID || len(w.bank.started) != 3 {
			t.Errorf("resumed: %+v, after %d OTPs", again, len(w.bank.started))
		}
	})
}

func TestAKeyWaitsForTheAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.Create(t.Context(), w.registration("ada@example.test"))
		must(t, err)
		r := w.request("ada@example.test", 0)
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
		r.Key, _ = w.open(t, "account")
		_, err = w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, "Failed to create account. The bank has not said whether it was opened. Try again.")
		w.bank.found = account(78)
		r.Key, _ = w.open(t, "account") // the retry immediately continues the opening
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		r.Key = w.cutOff(t, "account")
		c, err := w.GenerateAccount(t.Context(), r) // the retry returns the account, and not "generated already"
		must(t, err)
		if _, answer := w.open(t, "account"); answer == nil || answer.Status != 200 || len(w.bank.opened) != 1 || c.Account == nil {
			t.Errorf("the stored answer is %v, after %d requests to the bank", answer, len(w.bank.opened))
		}
	})
}
