package providertest

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/provider"
)

// trade describes one way of moving money, such as a purchase or a transfer.
type trade struct {
	wire           *Wire
	paying, asking string
	keyed          bool // see World.Keyed
	// order prepares a payment with a new reference, for a number that ends with the digits ending.
	order    func(t *testing.T, ending string) order
	executed func(t *testing.T, reference string) int
}

type order struct {
	reference string
	pay, ask  func(ctx context.Context) provider.Answer
}

func (w trade) paid(r *http.Request) bool  { return at(r.URL.Path, w.paying) }
func (w trade) asked(r *http.Request) bool { return at(r.URL.Path, w.asking) }

// runPayments runs the tests that apply to every way of moving money.
func runPayments(t *testing.T, newTrade func(t *testing.T) trade) {
	t.Run("stories", func(t *testing.T) { stories(t, newTrade) })
	t.Run("accidents", func(t *testing.T) { accidents(t, newTrade) })
	t.Run("requery accidents", func(t *testing.T) { requeryAccidents(t, newTrade) })
	t.Run("nobody there", func(t *testing.T) { nobodyThere(t, newTrade(t)) })
	t.Run("a caller who went away", func(t *testing.T) { goneCaller(t, newTrade(t)) })
	t.Run("the same reference again", func(t *testing.T) { sameReference(t, newTrade(t)) })
}

// expect is the expected result of one call.
type expect struct {
	outcome provider.Outcome
	missing bool
}

var (
	done    = expect{outcome: provider.Confirmed}
	refused = expect{outcome: provider.Rejected}
	unknown = expect{outcome: provider.Unknown}
	missing = expect{outcome: provider.Unknown, missing: true}
)

func check(t *testing.T, what string, a provider.Answer, want expect) {
	t.Helper()
	if a.Outcome != want.outcome || a.Missing != want.missing {
		t.Errorf("%s: %s, missing %v (%s: %s); want %s, missing %v",
			what, a.Outcome, a.Missing, a.Code, a.Message, want.outcome, want.missing)
	}
	if a.Code == "" {
		t.Errorf("%s: an answer without a code", what)
	}
}

func (w trade) checkBooks(t *testing.T, o order, sent, executed int) {
	t.Helper()
	if n := w.wire.Sent(w.paying); n != sent {
		t.Errorf("the payment was sent %d times, want %d", n, sent)
	}
	if n := w.executed(t, o.reference); n != executed {
		t.Errorf("the provider carried it out %d times, want %d", n, executed)
	}
}

func stories(t *testing.T, newTrade func(t *testing.T) trade) {
	for _, s := range []struct {
		ending   string
		pay      expect
		asked    []expect
		executed int
	}{
		{"88", done, []expect{done}, 1},
		{"01", refused, nil, 0},
		{"01", refused, nil, 0}, // the provider alternates between two forms of a refusal, so two rows with "01" test both
		{"02", unknown, []expect{done}, 1},
		{"02", unknown, []expect{done}, 1},
		{"03", unknown, []expect{missing, missing, missing}, 0},
		{"03", unknown, []expect{missing}, 0},
		{"04", unknown, []expect{done, done}, 1},
		{"05", unknown, []expect{missing}, 0},
		{"06", unknown, []expect{unknown, done, done}, 1},
		{"07", unknown, []expect{unknown, refused, refused}, 0},
		{"08", unknown, []expect{unknown, unknown, unknown}, 0},
	} {
		t.Run(s.ending, func(t *testing.T) {
			w := newTrade(t)
			p := w.order(t, s.ending)
			check(t, "pay", p.pay(context.Background()), s.pay)
			for _, want := range s.asked {
				check(t, "requery", p.ask(context.Background()), want)
			}
			w.checkBooks(t, p, 1, s.executed)
		})
	}
}

func accidents(t *testing.T, newTrade func(t *testing.T) trade) {
	for _, a := range []struct {
		name     string
		accident Accident
		times    int
		pay      expect
		asked    expect
		sent     int
		executed int
	}{
		{"the token ran out", Says(401, `{"statusCode":401,"message":"expired"}`), 1, done, done, 2, 1},
		{"the client id is not liked", Says(403, `{"statusCode":403,"message":"forbidden"}`), 1, done, done, 2, 1},
		{"never let in", Says(401, `{"statusCode":401,"message":"expired"}`), 9, refused, missing, 2, 0},
		{"never let in, in HTML", Says(403, `<html>no</html>`), 9, refused, missing, 2, 0},
		{"not let in, with the code of a success", DoesAndSays(403, `{"statusCode":403,"responseCode":"00","code":"000"}`), 1, unknown, done, 1, 1},
		{"HTTP 500, not done", Says(500, `{}`), 9, unknown, missing, 1, 0},
		{"HTTP 500, done", DoesAndSays(500, `{}`), 9, unknown, done, 1, 1},
		{"HTTP 502 in HTML, done", DoesAndSays(502, `<html>bad gateway</html>`), 9, unknown, done, 1, 1},
		{"HTTP 503, not done", Says(503, ``), 9, unknown, missing, 1, 0},
		{"HTTP 504, done", DoesAndSays(504, `{"statusCode":400,"message":"no"}`), 9, unknown, done, 1, 1},
		{"HTTP 429", DoesAndSays(429, `{"statusCode":429,"message":"slow down"}`), 9, unknown, done, 1, 1},
		{"HTTP 408", DoesAndSays(408, `{}`), 9, unknown, done, 1, 1},
		{"a redirect", DoesAndSays(307, ``), 9, unknown, done, 1, 1},
		{"the answer is cut", DoesAndCuts, 9, unknown, done, 1, 1},
		{"the answer is garbage", DoesAndSays(200, `{"statusCode":200,"da`), 9, unknown, done, 1, 1},
		{"the answer is empty", DoesAndSays(200, ``), 9, unknown, done, 1, 1},
		{"the answer is HTML", DoesAndSays(200, `<html>welcome</html>`), 9, unknown, done, 1, 1},
		{"the answer is null", DoesAndSays(200, `null`), 9, unknown, done, 1, 1},
		{"the answer is a list", DoesAndSays(200, `[{"statusCode":200}]`), 9, unknown, done, 1, 1},
		{"the data is a sentence", DoesAndSays(200, `{"statusCode":200,"data":"done","content":"done"}`), 9, unknown, done, 1, 1},
		{"the data is a list", DoesAndSays(200, `{"statusCode":200,"data":[],"content":[]}`), 9, unknown, done, 1, 1},
		{"the words are no texts", DoesAndSays(200, `{"statusCode":{},"responseCode":["00"],"code":{},"data":{"status":{},"_id":[]}}`), 9, unknown, done, 1, 1},
		{"a fault inside", DoesAndSays(200, `{"statusCode":500,"code":"999","message":"oops"}`), 9, unknown, done, 1, 1},
		{"a refusal in HTML", DoesAndSays(400, `<html>bad request</html>`), 9, unknown, done, 1, 1},
		{"a yes and a no", DoesAndSays(400, `{"statusCode":400,"responseCode":"00","code":"000","message":"no"}`), 9, unknown, done, 1, 1},
		{"the answer has no end", DoesAndFloods, 9, unknown, done, 1, 1},
		{"the connection breaks, not done", Hides, 9, unknown, missing, 1, 0},
		{"the connection breaks, done", DoesAndHides, 9, unknown, done, 1, 1},
		{"no answer in time", DoesAndHangs, 9, unknown, done, 1, 1},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newTrade(t)
			if w.keyed && a.sent == 2 {
				a.pay, a.asked, a.sent, a.executed = refused, missing, 1, 0
			}
			w.wire.Plan(w.paid, a.times, a.accident)
			p := w.order(t, "88")
			check(t, "pay", p.pay(context.Background()), a.pay)
			check(t, "requery", p.ask(context.Background()), a.asked)
			w.checkBooks(t, p, a.sent, a.executed)
		})
	}
}

// requeryAccidents proves that a failed requery leaves the payment's outcome unknown, even if the
// provider refuses our token.
func requeryAccidents(t *testing.T, newTrade func(t *testing.T) trade) {
	for _, a := range []struct {
		name     string
		accident Accident
		times    int
		asked    expect
	}{
		{"HTTP 500, for a moment", Says(500, `{}`), 1, done},
		{"HTTP 500", Says(500, `{}`), 99, unknown},
		{"HTTP 429", Says(429, `{}`), 99, unknown},
		{"garbage", Says(200, `{"statusCode":20`), 99, unknown},
		{"empty", Says(200, `{}`), 99, unknown},
		{"no data", Says(200, `{"statusCode":200,"data":null}`), 99, unknown},
		{"an unknown word", Says(200, `{"statusCode":200,"data":{"transactionStatus":"odd","status":"odd","reversalPaymentReference":null}}`), 99, unknown},
		{"never let in", Says(401, `{"statusCode":401,"message":"no"}`), 99, unknown},
		{"forbidden", Says(403, `<html>`), 99, unknown},
		{"bad request", Says(400, `{"statusCode":400,"message":"no"}`), 99, unknown},
		{"a gateway's 404", Says(404, `<html>not found</html>`), 99, unknown},
		{"a router's 404", Says(404, `{"statusCode":404,"message":"Cannot GET /vas/transaction/1"}`), 99, unknown},
		{"the connection breaks", Hides, 99, unknown},
		{"the answer is cut", DoesAndCuts, 99, unknown},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newTrade(t)
			p := w.order(t, "88")
			check(t, "pay", p.pay(context.Background()), done)
			w.wire.Plan(w.asked, a.times, a.accident)
			check(t, "requery", p.ask(context.Background()), a.asked)
			w.checkBooks(t, p, 1, 1)
		})
	}
}

// nobodyThere proves two rules for a provider that cannot be reached. A new payment is Rejected,
// since nothing was sent. A requery of an earlier payment returns Unknown.
func nobodyThere(t *testing.T, w trade) {
	warm := w.order(t, "88")
	check(t, "pay", warm.pay(context.Background()), done)
	p := w.order(t, "88")
	w.wire.Cut()
	a := p.pay(context.Background())
	check(t, "pay", a, refused)
	if a.Code != provider.CodeNotSent {
		t.Errorf("code %q", a.Code)
	}
	check(t, "requery", warm.ask(context.Background()), unknown)
	w.checkBooks(t, p, 1, 0)
}

// goneCaller proves two rules. If the caller's context has ended before the call, no payment is
// sent. If the caller's context ends during the call, the payment continues.
func goneCaller(t *testing.T, w trade) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	p := w.order(t, "88")
	check(t, "pay", p.pay(gone), refused)
	w.checkBooks(t, p, 0, 0)

	leaving, cancel := context.WithCancel(context.Background())
	w.wire.Plan(w.paid, 1, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		next.ServeHTTP(out, r)
	})
	p = w.order(t, "88")
	check(t, "pay", p.pay(leaving), done)
	w.checkBooks(t, p, 1, 1)
}

// sameReference proves that many calls with one reference make one payment. None of the calls
// reports that the payment was not made.
func sameReference(t *testing.T, w trade) {
	p := w.order(t, "88")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if a := p.pay(context.Background()); a.Outcome == provider.Rejected {
				t.Errorf("one of many: %+v", a)
			}
		})
	}
	all.Wait()
	check(t, "again", p.pay(context.Background()), unknown)
	check(t, "requery", p.ask(context.Background()), done)
	w.checkBooks(t, p, 9, 1)
}
