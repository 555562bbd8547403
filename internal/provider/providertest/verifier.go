package providertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// RunVerifier runs all tests of identity checks. Each test creates a new BankWorld.
func RunVerifier(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	t.Run("stories", func(t *testing.T) { identities(t, newWorld(t)) })
	t.Run("accidents", func(t *testing.T) { identityAccidents(t, newWorld) })
	t.Run("a caller who went away", func(t *testing.T) {
		w := newWorld(t)
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		check(t, "start", w.Verifier.Start(gone, begin("22222222222")), refused)
		if n := w.Wire.Sent(w.Paths.Start); n != 0 {
			t.Errorf("an OTP was sent %d times", n)
		}
	})
}

func begin(bvn string) provider.IdentityStart {
	return provider.IdentityStart{Reference: id.New(), BVN: secret.NewText(bvn)}
}

func identities(t *testing.T, w BankWorld) {
	ctx := context.Background()
	for range 2 { // the provider alternates between two forms of a refusal, so two calls test both
		a := w.Verifier.Start(ctx, begin("22222220000"))
		check(t, "a number that is refused", a, refused)
		if a.Message == "" || strings.Contains(fmt.Sprintf("%+v", a), "22222220000") {
			t.Errorf("%+v", a)
		}
	}
	check(t, "a number for which nothing works", w.Verifier.Start(ctx, begin("22222220009")), unknown)
	check(t, "no number", w.Verifier.Start(ctx, begin("2222")), refused)

	confirm := func(session, otp string) provider.Answer {
		return w.Verifier.Confirm(ctx, provider.IdentityConfirm{Session: session, OTP: secret.NewText(otp)}).Answer
	}
	first, second := w.session(t, false), w.session(t, false)
	if first == second || first == "" {
		t.Errorf("the sessions are %q and %q", first, second)
	}
	check(t, "a wrong OTP", confirm(second, "000000"), refused)
	check(t, "no OTP", confirm(second, ""), refused)
	check(t, "no session", confirm("nothing", w.OTP), refused)
	a := confirm(second, w.OTP)
	check(t, "the right OTP", a, done)
	if a.Reference == "" {
		t.Errorf("%+v", a)
	}
	check(t, "once more", confirm(second, w.OTP), refused)
}

// identityAccidents proves that the plug never reports that no OTP was sent if an OTP may have been
// sent. The plug does not repeat the request, unless the provider refused the access token.
func identityAccidents(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	for _, a := range []struct {
		name     string
		accident Accident
		times    int
		want     expect
		sent     int
	}{
		{"the token ran out", Says(401, `{"statusCode":401,"message":"expired"}`), 1, done, 2},
		{"never let in", Says(401, `{"statusCode":401,"message":"expired"}`), 9, refused, 2},
		{"HTTP 500", DoesAndSays(500, `{}`), 9, unknown, 1},
		{"HTTP 503", Says(503, `<html>`), 9, unknown, 1},
		{"HTTP 429", Says(429, `{}`), 9, unknown, 1},
		{"a refusal", Says(402, `{"statusCode":402,"message":"no money"}`), 9, refused, 1},
		{"a refusal as HTTP 200", Says(200, `{"statusCode":400,"message":"no such number"}`), 9, refused, 1},
		{"the answer is cut", DoesAndCuts, 9, unknown, 1},
		{"the answer is garbage", DoesAndSays(200, `{"statusCode":200,"da`), 9, unknown, 1},
		{"no session", DoesAndSays(200, `{"statusCode":200,"data":{"status":"SUCCESS"}}`), 9, unknown, 1},
		{"an unknown word", DoesAndSays(200, `{"statusCode":200,"data":{"_id":"1","status":"LATER"}}`), 9, unknown, 1},
		{"a failure", Says(200, `{"statusCode":200,"data":{"_id":"1","status":"FAILED"}}`), 9, refused, 1},
		{"the connection breaks", Hides, 9, unknown, 1},
		{"no answer in time", DoesAndHangs, 9, unknown, 1},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			w.Wire.Plan(on(w.Paths.Start), a.times, a.accident)
			check(t, "start", w.Verifier.Start(context.Background(), begin("22222222222")), a.want)
			if n := w.Wire.Sent(w.Paths.Start); n != a.sent {
				t.Errorf("it was sent %d times, want %d", n, a.sent)
			}
			w = newWorld(t)
			session := w.session(t, false)
			w.Wire.Plan(on(w.Paths.Confirm), a.times, a.accident)
			check(t, "confirm", w.Verifier.Confirm(context.Background(),
				provider.IdentityConfirm{Session: session, OTP: secret.NewText(w.OTP)}).Answer, a.want)
			if n := w.Wire.Sent(w.Paths.Confirm); n != a.sent {
				t.Errorf("the OTP was given back %d times, want %d", n, a.sent)
			}
		})
	}
}
