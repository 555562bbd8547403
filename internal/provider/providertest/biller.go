// Package providertest is what every plug has to pass: the ways in which a
// purchase can go, right and wrong, and what the plug must say of each.
//
// It is run against a real server over HTTP (the sandbox), through a wire that
// has accidents. The one thing it is about: an outcome that is not certain is
// never called certain, and nothing is bought twice.
package providertest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/provider"
)

// World is a plug, the provider it talks to, and the wire between them. The
// provider tells the stories of completion.md §5.
type World struct {
	Biller provider.Biller
	Wire   *Wire
	// Paying and Asking are what the paths of a payment and of a requery begin
	// with.
	Paying, Asking string
	// Purchase is something the provider sells, for a number with this ending.
	// RunBiller fills in the reference.
	Purchase func(ending string) provider.Purchase
	// Executed is how often the provider really carried out a purchase.
	Executed func(t *testing.T, reference string) int
}

func (w World) buy(ending string) provider.Purchase {
	p := w.Purchase(ending)
	p.Reference = id.New()
	return p
}

func (w World) paying(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, w.Paying) }
func (w World) asking(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, w.Asking) }

// RunBiller runs the whole suite. Each test gets a world of its own.
func RunBiller(t *testing.T, newWorld func(t *testing.T) World) {
	t.Run("catalogue", func(t *testing.T) { catalogue(t, newWorld(t)) })
	t.Run("stories", func(t *testing.T) { stories(t, newWorld) })
	t.Run("accidents", func(t *testing.T) { accidents(t, newWorld) })
	t.Run("requery accidents", func(t *testing.T) { requeryAccidents(t, newWorld) })
	t.Run("nobody there", func(t *testing.T) { nobodyThere(t, newWorld(t)) })
	t.Run("a caller who went away", func(t *testing.T) { goneCaller(t, newWorld(t)) })
	t.Run("the same reference again", func(t *testing.T) { sameReference(t, newWorld(t)) })
}

// expect is what must come out of one call.
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

func (w World) checkBooks(t *testing.T, p provider.Purchase, sent, executed int) {
	t.Helper()
	if n := w.Wire.Count(w.Paying); n != sent {
		t.Errorf("the payment was sent %d times, want %d", n, sent)
	}
	if n := w.Executed(t, p.Reference); n != executed {
		t.Errorf("the provider carried it out %d times, want %d", n, executed)
	}
}

func catalogue(t *testing.T, w World) {
	ctx := context.Background()
	if w.Biller.Name() == "" {
		t.Error("a biller without a name")
	}
	services, err := w.Biller.Services(ctx)
	if err != nil || len(services) == 0 {
		t.Fatalf("services: %v, %v", services, err)
	}
	products := 0
	for _, s := range services {
		if s.Code == "" || s.Name == "" || s.Kind == "" {
			t.Errorf("half a service: %+v", s)
		}
		categories, err := w.Biller.Categories(ctx, s.Code)
		if err != nil || len(categories) == 0 {
			t.Fatalf("categories of %s: %v, %v", s.Name, categories, err)
		}
		for _, c := range categories {
			list, err := w.Biller.Products(ctx, c.Code)
			if err != nil {
				t.Fatalf("products of %s: %v", c.Name, err)
			}
			for _, p := range list {
				if p.Code == "" || p.Name == "" && p.Validity == "" || p.Fixed && p.Amount <= 0 {
					t.Errorf("half a product: %+v", p)
				}
			}
			products += len(list)
		}
	}
	if products == 0 {
		t.Error("nothing is on sale")
	}
	if _, err := w.Biller.Categories(ctx, "no-such-service"); !isError(err) {
		t.Errorf("an unknown service: %v", err)
	}
}

func stories(t *testing.T, newWorld func(t *testing.T) World) {
	for _, s := range []struct {
		ending   string
		pay      expect
		asked    []expect
		executed int
	}{
		{"88", done, []expect{done}, 1},
		{"01", refused, nil, 0}, {"01", refused, nil, 0}, // in both manners
		{"02", unknown, []expect{done}, 1}, {"02", unknown, []expect{done}, 1},
		{"03", unknown, []expect{missing, missing, missing}, 0}, {"03", unknown, []expect{missing}, 0},
		{"04", unknown, []expect{done, done}, 1},
		{"05", unknown, []expect{missing}, 0},
		{"06", unknown, []expect{unknown, done, done}, 1},
		{"07", unknown, []expect{unknown, refused, refused}, 0},
	} {
		t.Run(s.ending, func(t *testing.T) {
			w := newWorld(t)
			p := w.buy(s.ending)
			check(t, "pay", w.Biller.Pay(context.Background(), p), s.pay)
			for _, want := range s.asked {
				check(t, "requery", w.Biller.Requery(context.Background(), p.Reference), want)
			}
			w.checkBooks(t, p, 1, s.executed)
		})
	}
}

func accidents(t *testing.T, newWorld func(t *testing.T) World) {
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
		{"a refusal in HTML", DoesAndSays(400, `<html>bad request</html>`), 9, unknown, done, 1, 1},
		{"the answer has no end", DoesAndFloods, 9, unknown, done, 1, 1},
		{"the connection breaks, not done", Hides, 9, unknown, missing, 1, 0},
		{"the connection breaks, done", DoesAndHides, 9, unknown, done, 1, 1},
		{"no answer in time", DoesAndHangs, 9, unknown, done, 1, 1},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			w.Wire.Plan(w.paying, a.times, a.accident)
			p := w.buy("88")
			check(t, "pay", w.Biller.Pay(context.Background(), p), a.pay)
			check(t, "requery", w.Biller.Requery(context.Background(), p.Reference), a.asked)
			w.checkBooks(t, p, a.sent, a.executed)
		})
	}
}

// requeryAccidents: whatever happens while we ask says nothing about the
// purchase, not even a refusal to let us in.
func requeryAccidents(t *testing.T, newWorld func(t *testing.T) World) {
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
		{"an unknown word", Says(200, `{"statusCode":200,"data":{"transactionStatus":"odd","reversalPaymentReference":null}}`), 99, unknown},
		{"never let in", Says(401, `{"statusCode":401,"message":"no"}`), 99, unknown},
		{"forbidden", Says(403, `<html>`), 99, unknown},
		{"bad request", Says(400, `{"statusCode":400,"message":"no"}`), 99, unknown},
		{"a gateway's 404", Says(404, `<html>not found</html>`), 99, unknown},
		{"a router's 404", Says(404, `{"statusCode":404,"message":"Cannot GET /vas/transaction/1"}`), 99, unknown},
		{"the connection breaks", Hides, 99, unknown},
		{"the answer is cut", DoesAndCuts, 99, unknown},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.buy("88")
			check(t, "pay", w.Biller.Pay(context.Background(), p), done)
			w.Wire.Plan(w.asking, a.times, a.accident)
			check(t, "requery", w.Biller.Requery(context.Background(), p.Reference), a.asked)
			w.checkBooks(t, p, 1, 1)
		})
	}
}

// nobodyThere: nothing can have been sent, so the payment is off, and what came
// of an earlier one is as unknown as before.
func nobodyThere(t *testing.T, w World) {
	warm := w.buy("88")
	check(t, "pay", w.Biller.Pay(context.Background(), warm), done)
	w.Wire.Cut()
	p := w.buy("88")
	a := w.Biller.Pay(context.Background(), p)
	check(t, "pay", a, refused)
	if a.Code != provider.CodeNotSent {
		t.Errorf("code %q", a.Code)
	}
	check(t, "requery", w.Biller.Requery(context.Background(), warm.Reference), unknown)
	w.checkBooks(t, p, 1, 0)
	if _, err := w.Biller.Services(context.Background()); !isError(err) {
		t.Errorf("a catalogue from nowhere: %v", err)
	}
}

// goneCaller: before the payment it is off, afterwards it runs to its end.
func goneCaller(t *testing.T, w World) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	p := w.buy("88")
	check(t, "pay", w.Biller.Pay(gone, p), refused)
	w.checkBooks(t, p, 0, 0)

	leaving, cancel := context.WithCancel(context.Background())
	w.Wire.Plan(w.paying, 1, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		next.ServeHTTP(out, r)
	})
	p = w.buy("88")
	check(t, "pay", w.Biller.Pay(leaving, p), done)
	w.checkBooks(t, p, 1, 1)
}

// sameReference: many at once and one afterwards; one purchase, and nobody is
// told that it did not happen.
func sameReference(t *testing.T, w World) {
	p := w.buy("88")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if a := w.Biller.Pay(context.Background(), p); a.Outcome == provider.Rejected {
				t.Errorf("one of many: %+v", a)
			}
		})
	}
	all.Wait()
	check(t, "again", w.Biller.Pay(context.Background(), p), unknown)
	check(t, "requery", w.Biller.Requery(context.Background(), p.Reference), done)
	w.checkBooks(t, p, 9, 1)
}
