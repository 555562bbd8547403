package providertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// whole fails the test if a card lacks fields, or if its full number is visible.
func whole(t *testing.T, what string, c provider.IssuedCard) {
	t.Helper()
	if c.ID == "" || c.Account == "" || c.Status != "active" || c.MaskedPAN == "" || c.ExpiryMonth == "" || c.ExpiryYear == "" {
		t.Errorf("%s: half a card: %+v", what, c)
	}
	if strings.Contains(fmt.Sprintf("%+v", c), Pan[6:15]) {
		t.Errorf("%s: the card's number shows: %+v", what, c)
	}
}

func cards(t *testing.T, w IssuerWorld) {
	ctx := context.Background()
	if w.Issuer.Name() == "" {
		t.Error("an issuer without a name")
	}
	o := w.virtual(t)
	check(t, "none yet", w.look(t, o), missing)
	a := w.Issuer.CreateCard(ctx, o)
	check(t, "a card", a.Answer, done)
	whole(t, "made", a.Card)
	check(t, "on the list", w.look(t, o), done)
	shown, err := w.Issuer.Card(ctx, a.Card.ID)
	if err != nil || shown.ID != a.Card.ID || shown.Account != a.Card.Account {
		t.Errorf("made %+v, shown %+v, %v", a.Card, shown, err)
	}
	whole(t, "shown", shown)
	printed := w.virtual(t)
	printed.Type, printed.Number = "physical", secret.NewText(Pan)
	a = w.Issuer.CreateCard(ctx, printed)
	check(t, "a physical card", a.Answer, done)
	whole(t, "a physical card", a.Card)

	odd := w.virtual(t)
	odd.Currency = "USD"
	for range 2 { // the issuer alternates between two forms of a refusal, so two calls test both
		check(t, "a currency that is not issued", w.Issuer.CreateCard(ctx, odd).Answer, refused)
	}
	odd = w.virtual(t)
	odd.Cardholder = "66a0000000000000000000fe"
	check(t, "nobody's card", w.Issuer.CreateCard(ctx, odd).Answer, refused)
	for story, want := range map[string][2]expect{
		"01": {refused, missing}, "02": {unknown, done}, "03": {unknown, missing}, "04": {unknown, done}, "05": {unknown, missing},
	} {
		o := w.virtual(t)
		w.NextCard(t, story)
		check(t, story, w.Issuer.CreateCard(ctx, o).Answer, want[0])
		check(t, story+", on the list", w.look(t, o), want[1])
	}
	token, err := w.Issuer.CardToken(ctx, shown.ID)
	if err != nil || token.Value.Reveal() == "" || token.ExpiresIn <= 0 || strings.Contains(fmt.Sprintf("%+v", token), token.Value.Reveal()) {
		t.Errorf("%+v, %v", token, err)
	}
	if words, err := w.Issuer.SendDefaultPIN(ctx, shown.ID); err != nil || words == "" {
		t.Errorf("%q, %v", words, err)
	}
}

// look reports whether the ordered card is on the cardholder's list of cards. The list must not
// contain the card more than one time.
func (w IssuerWorld) look(t *testing.T, o provider.CardOrder) provider.Answer {
	t.Helper()
	list, err := w.Issuer.Cards(context.Background(), o.Cardholder)
	switch {
	case err != nil && !isError(err):
		t.Errorf("the list: %v", err)
	case err != nil:
		return provider.Answer{Code: "no list"}
	case len(list) == 0:
		return provider.Answer{Missing: true, Code: "not on the list"}
	case len(list) != 1 || list[0].Reference != o.Reference:
		t.Errorf("the list of %s: %+v", o.Reference, list)
	}
	whole(t, "on the list", list[0])
	return provider.Answer{Outcome: provider.Confirmed, Code: "on the list"}
}

// cardAccidents proves that a card that may exist is never reported as not created. The plug sends
// the order only one time, and the cardholder's list then shows whether the card exists.
func cardAccidents(t *testing.T, newWorld func(t *testing.T) IssuerWorld) {
	for _, a := range []struct {
		name     string
		accident Accident
		create   expect
		listed   expect
	}{
		{"never let in", Says(401, `{"statusCode":401,"message":"no"}`), refused, missing},
		{"never let in, in HTML", Says(403, `<html>no</html>`), refused, missing},
		{"a refusal", Says(400, `{"statusCode":400,"message":"no"}`), refused, missing},
		{"a refusal as HTTP 200", Says(200, `{"statusCode":400,"message":"no"}`), refused, missing},
		{"a refusal in HTML", DoesAndSays(400, `<html>bad request</html>`), unknown, done},
		{"a conflict", DoesAndSays(409, `{"statusCode":409,"message":"Conflict"}`), unknown, done},
		{"a refusal that shows a card", DoesAndSays(400, `{"statusCode":400,"message":"odd","data":{"_id":"1","account":"2"}}`), unknown, done},
		{"HTTP 500, not done", Says(500, `{}`), unknown, missing},
		{"HTTP 500, done", DoesAndSays(500, `{}`), unknown, done},
		{"HTTP 500 as HTTP 200", DoesAndSays(200, `{"statusCode":500,"message":"oops"}`), unknown, done},
		{"HTTP 429", DoesAndSays(429, `{"statusCode":429}`), unknown, done},
		{"a redirect", DoesAndSays(307, ``), unknown, done},
		{"the answer is cut", DoesAndCuts, unknown, done},
		{"the answer is garbage", DoesAndSays(200, `{"statusCode":200,"da`), unknown, done},
		{"the answer is empty", DoesAndSays(200, `{}`), unknown, done},
		{"the answer has no end", DoesAndFloods, unknown, done},
		{"no card", DoesAndSays(200, `{"statusCode":200,"data":null}`), unknown, done},
		{"a list", DoesAndSays(200, `{"statusCode":200,"data":[{"_id":"1","account":"2"}]}`), unknown, done},
		{"a card without an id", DoesAndSays(200, `{"statusCode":200,"data":{"account":"2","status":"active"}}`), unknown, done},
		{"an id that is no text", DoesAndSays(200, `{"statusCode":200,"data":{"_id":{"a":1},"account":"2"}}`), unknown, done},
		{"a card without an account", DoesAndSays(200, `{"statusCode":200,"data":{"_id":"1","account":null}}`), unknown, done},
		{"an error beside the card", DoesAndSays(200, `{"error":"odd","data":{"_id":"1","account":"2"}}`), unknown, done},
		{"the connection breaks, not done", Hides, unknown, missing},
		{"the connection breaks, done", DoesAndHides, unknown, done},
		{"no answer in time", DoesAndHangs, unknown, done},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			o := w.virtual(t)
			w.Wire.Plan(on(w.Paths.Create), 99, a.accident)
			check(t, "create", w.Issuer.CreateCard(context.Background(), o).Answer, a.create)
			if n := w.Wire.Sent(w.Paths.Create); n != 1 {
				t.Errorf("it was asked for %d times", n)
			}
			check(t, "the list", w.look(t, o), a.listed)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		w := newWorld(t)
		o := w.virtual(t)
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		check(t, "a caller who went away", w.Issuer.CreateCard(gone, o).Answer, refused)
		if n := w.Wire.Sent(w.Paths.Create); n != 0 {
			t.Errorf("it was asked for %d times", n)
		}
		w.Wire.Cut()
		a := w.Issuer.CreateCard(context.Background(), o)
		check(t, "create", a.Answer, refused)
		if a.Code != provider.CodeNotSent {
			t.Errorf("code %q", a.Code)
		}
		check(t, "the list", w.look(t, o), unknown)
	})
}

// cardQuestions proves two rules. A read returns a complete result or an *Error. The plug never
// repeats a request that creates something.
func cardQuestions(t *testing.T, newWorld func(t *testing.T) IssuerWorld) {
	for name, accident := range map[string]Accident{
		"HTTP 500":                 Says(500, `{}`),
		"HTTP 429":                 Says(429, `{}`),
		"never let in":             Says(401, `{"statusCode":401,"message":"no"}`),
		"a gateway's 404":          Says(404, `<html>not found</html>`),
		"a fault as HTTP 200":      Says(200, `{"statusCode":500,"message":"oops"}`),
		"an error as HTTP 200":     Says(200, `{"error":"Bad Gateway"}`),
		"garbage":                  Says(200, `{"statusCode":20`),
		"HTML":                     Says(200, `<html>welcome</html>`),
		"half an answer":           DoesAndCuts,
		"the connection breaks":    Hides,
		"no answer in time":        DoesAndHangs,
		"a body that has no end":   DoesAndFloods,
		"no data":                  Says(200, `{"statusCode":200,"data":null}`),
		"data of another type":     Says(200, `{"statusCode":200,"data":"yes"}`),
		"data that has no content": Says(200, `{"statusCode":200,"data":{}}`),
		"ids of another type":      Says(200, `{"statusCode":200,"data":{"_id":[],"token":{}}}`),
		"a list of half a card":    Says(200, `{"statusCode":200,"data":[{"status":"active"}],"pagination":{"pages":1}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, c := context.Background(), w.card(t)
			holder := w.holder(t)
			w.Wire.Plan(on(w.Paths.Cards), 9999, accident)
			_, err := w.Issuer.Card(ctx, c.ID)
			wantError(t, "a card", err)
			_, err = w.Issuer.Cards(ctx, holder)
			wantError(t, "the cards", err)
			before := w.Wire.Sent(w.Paths.Cards)
			_, err = w.Issuer.CardToken(ctx, c.ID)
			wantError(t, "a token", err)
			if !strings.Contains(name, "data") && !strings.Contains(name, "type") && !strings.Contains(name, "half a card") {
				_, err = w.Issuer.SendDefaultPIN(ctx, c.ID)
				wantError(t, "a PIN", err)
				before++
			}
			if n := w.Wire.Sent(w.Paths.Cards) - before; n != 1 {
				t.Errorf("the token and the PIN were asked for %d times too often", n-1)
			}
			before = w.Wire.Sent(w.Paths.Holders)
			w.Wire.Plan(on(w.Paths.Holders), 9999, accident)
			_, err = w.Issuer.OpenCardholder(ctx, somebody())
			wantError(t, "a cardholder", err)
			if n := w.Wire.Sent(w.Paths.Holders) - before; n != 1 {
				t.Errorf("the cardholder was asked for %d times", n)
			}
		})
	}
}

func wantError(t *testing.T, what string, err error) {
	t.Helper()
	if !isError(err) {
		t.Errorf("%s: %v is no *provider.Error", what, err)
	}
}
