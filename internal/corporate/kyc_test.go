package corporate_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	tooSoon = "Please wait 60 seconds before requesting another OTP"
	tooMany = "Maximum OTP attempts reached"
)

func TestInitiateAndResendShareThreeAttemptsAMinuteApart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, number := newWorld(t, d), secret.NewText(bvn)
		first, err := w.Initiate(t.Context(), w.company, number, nil)
		must(t, err)
		if first.Message != "OTP sent" {
			t.Errorf("the default message is %q", first.Message)
		}
		_, err = w.Resend(t.Context(), w.company, first.SessionID, nil)
		want(t, err, fault.Limited, tooSoon)
		w.clock.Advance(time.Minute)
		again, err := w.Initiate(t.Context(), w.company, number, nil)
		must(t, err)
		if again.SessionID != first.SessionID {
			t.Error("the same BVN has begun another session")
		}
		w.clock.Advance(time.Minute)
		resent, err := w.Resend(t.Context(), w.company, first.SessionID, nil)
		must(t, err)
		if resent.Message != "OTP re-sent" {
			t.Errorf("the default message is %q", resent.Message)
		}
		w.clock.Advance(time.Hour)
		_, err = w.Resend(t.Context(), w.company, first.SessionID, nil)
		want(t, err, fault.Limited, tooMany)
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Limited, tooMany)
		if len(w.bank.started) != 3 {
			t.Errorf("%d OTPs were sent", len(w.bank.started))
		}
		other, err := w.Initiate(t.Context(), w.company, secret.NewText("22212345679"), nil)
		must(t, err)
		if other.SessionID == first.SessionID {
			t.Error("another BVN has the same session")
		}
	})
}

func TestASpentSessionGivesWayToANewOneAfterADay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, number := newWorld(t, d), secret.NewText(bvn)
		first, err := w.Initiate(t.Context(), w.company, number, nil)
		must(t, err)
		for range 2 {
			w.clock.Advance(time.Minute)
			_, err = w.Resend(t.Context(), w.company, first.SessionID, nil)
			must(t, err)
		}
		w.clock.Advance(23 * time.Hour)
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Limited, tooMany)
		if wait := fault.Of(err).Retry; wait != time.Hour {
			t.Errorf("a new initiation is possible after %s", wait)
		}
		w.clock.Advance(10 * 24 * time.Hour)
		_, err = w.Resend(t.Context(), w.company, first.SessionID, nil)
		want(t, err, fault.Limited, tooMany) // a session has three attempts in total, however old it is
		if len(w.bank.started) != 3 {
			t.Errorf("%d OTPs were sent", len(w.bank.started))
		}
		next, err := w.Initiate(t.Context(), w.company, number, nil)
		must(t, err)
		if next.SessionID == first.SessionID {
			t.Error("the spent session was used again")
		}
		_, err = w.Resend(t.Context(), w.company, first.SessionID, nil)
		want(t, err, fault.Refused, "Session closed")
		_, err = w.Validate(t.Context(), w.company, first.SessionID, secret.NewText("123456"), nil)
		want(t, err, fault.Refused, "Session not awaiting OTP")
		_, err = w.Validate(t.Context(), w.company, next.SessionID, secret.NewText("123456"), nil)
		must(t, err)
	})
}

func TestGuessesOfAnOTPHaveARate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		sent, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
		must(t, err)
		guess := func(otp string) error {
			_, err := w.Validate(t.Context(), w.company, sent.SessionID, secret.NewText(otp), nil)
			return err
		}
		for range 10 {
			want(t, guess("000000"), fault.Refused, "BVN OTP validation failed")
		}
		err = guess("123456")
		want(t, err, fault.Limited, "Too many attempts. Please wait 30 seconds before trying again")
		if wait := fault.Of(err).Retry; wait != 30*time.Second {
			t.Errorf("the next guess is possible after %s", wait)
		}
		w.clock.Advance(30 * time.Second)
		want(t, guess("000000"), fault.Refused, "BVN OTP validation failed")
		want(t, guess("000000"), fault.Limited, "Too many attempts. Please wait 30 seconds before trying again")
		w.clock.Advance(30 * time.Second)
		_, err = w.Resend(t.Context(), w.company, sent.SessionID, nil)
		must(t, err)
		for range 9 {
			want(t, guess("000000"), fault.Refused, "BVN OTP validation failed")
		}
		must(t, guess("123456")) // after a new OTP, ten guesses are allowed again
	})
}

func TestAFailureOfTheProviderUsesUpAnAttempt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w, number := newWorld(t, d), secret.NewText(bvn)
		w.bank.start = provider.Answer{Outcome: provider.Rejected, Message: "No record for " + bvn}
		_, err := w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Refused, "Unable to initiate BVN") // the fault must not show the BVN
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Limited, tooSoon)
		w.clock.Advance(time.Minute)
		w.bank.start = provider.Answer{Code: provider.CodeTimeout}
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Refused, "Unable to initiate BVN")
		w.clock.Advance(time.Minute)
		w.bank.start = provider.Answer{Outcome: provider.Rejected, Message: "Not today"}
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Refused, "Not today")
		w.clock.Advance(time.Minute)
		_, err = w.Initiate(t.Context(), w.company, number, nil)
		want(t, err, fault.Limited, tooMany)
	})
}

func TestTwentyAtOnceSendOneOTP(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		for round := range 3 { // one round for each of the session's three attempts
			refusal, wait := tooSoon, time.Minute
			if round == 2 {
				refusal, wait = tooMany, 24*time.Hour
			}
			var all sync.WaitGroup
			var mu sync.Mutex
			sent := 0
			for range 20 {
				all.Go(func() {
					_, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						sent++
					} else {
						want(t, err, fault.Limited, refusal)
						if again := fault.Of(err).Retry; again != wait {
							t.Errorf("the next initiation is possible after %s", again)
						}
					}
				})
			}
			all.Wait()
			if sent != 1 || len(w.bank.started) != round+1 {
				t.Errorf("round %d: %d calls succeeded and %d OTPs were sent in all", round, sent, len(w.bank.started))
			}
			w.clock.Advance(time.Minute)
		}
	})
}

func TestAnOTPProvesAnIdentityOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		sent, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
		must(t, err)
		_, err = w.Validate(t.Context(), w.company, "nobody", secret.NewText("123456"), nil)
		want(t, err, fault.Missing, "Session not found")
		_, err = w.Validate(t.Context(), "another", sent.SessionID, secret.NewText("123456"), nil)
		want(t, err, fault.Missing, "Session not found")
		for range 5 { // a wrong OTP uses no attempt
			_, err = w.Validate(t.Context(), w.company, sent.SessionID, secret.NewText("000000"), nil)
			want(t, err, fault.Refused, "BVN OTP validation failed")
		}
		w.clock.Advance(time.Minute)
		_, err = w.Resend(t.Context(), w.company, sent.SessionID, nil)
		must(t, err)

		var all sync.WaitGroup
		var mu sync.Mutex
		var ids []string
		for range 10 {
			all.Go(func() {
				k, err := w.Validate(t.Context(), w.company, sent.SessionID, secret.NewText("123456"), nil)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					ids = append(ids, k.ID)
				} else {
					want(t, err, fault.Refused, "Session not awaiting OTP")
				}
			})
		}
		all.Wait()
		if len(ids) != 1 || ids[0] == sent.SessionID {
			t.Errorf("the records are %v, of session %s", ids, sent.SessionID)
		}
		_, err = w.Resend(t.Context(), w.company, sent.SessionID, nil)
		want(t, err, fault.Refused, "Session closed")
		if told := w.told(t); !slices.Contains(told, "corporate.kyc_verified") || len(told) != 1 {
			t.Errorf("the events are %v", told)
		}
		next, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), nil)
		must(t, err)
		if next.SessionID == sent.SessionID {
			t.Error("a closed session was opened again")
		}
	})
}

// The database never contains the BVN in plain text.
func TestTheBVNIsSealed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		w.proven(t)
		for _, query := range []string{
			"SELECT subject || bvn || reference FROM identity_session", "SELECT reference FROM corporate_kyc", "SELECT data FROM event",
		} {
			rows, err := db.All(t.Context(), d, db.Value[string], query)
			must(t, err)
			if len(rows) == 0 || strings.Contains(strings.Join(rows, " "), bvn) {
				t.Errorf("%s: %q", query, rows)
			}
		}
	})
}

// The response is stored under the Idempotency-Key in the same unit as the outcome. The retry of an
// interrupted request does not send a second OTP.
func TestAKeyIsAnsweredOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		render := func(result any, err error) idempotency.Answer {
			if err != nil {
				return idempotency.Answer{Status: 400, Body: []byte(err.Error())}
			}
			return idempotency.Answer{Status: 200, Body: []byte("sent")}
		}
		key, _, err := w.keys.Open(t.Context(), w.company, "one", "print")
		must(t, err)
		key.Render(render)
		_, err = w.Initiate(t.Context(), w.company, secret.NewText(bvn), key)
		must(t, err)
		_, answer, err := w.keys.Open(t.Context(), w.company, "one", "print")
		must(t, err)
		if answer == nil || answer.Status != 200 || !bytes.Equal(answer.Body, []byte("sent")) {
			t.Fatalf("the stored answer is %v", answer)
		}

		// The row gets the state that it would have if the program had crashed during the request.
		_, err = d.Exec(t.Context(), `UPDATE idempotency_key SET state = 'RUNNING' WHERE company_id = $1`, w.company)
		must(t, err)
		w.clock.Advance(2 * time.Minute)
		key, _, err = w.keys.Open(t.Context(), w.company, "one", "print")
		must(t, err)
		key.Render(render)
		sent, err := w.Initiate(t.Context(), w.company, secret.NewText(bvn), key)
		must(t, err)
		if sent.SessionID == "" || len(w.bank.started) != 1 {
			t.Errorf("resumed: %+v after %d OTPs", sent, len(w.bank.started))
		}
	})
}
