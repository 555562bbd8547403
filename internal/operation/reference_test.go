package operation_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// The reference must never change for the same company, kind and idempotency key. Otherwise a
// request that is repeated after a restore would buy a second time.
func TestAReferenceFollowsFromCompanyKindAndKey(t *testing.T) {
	if got := operation.Reference("c0000000000000000000000ab", "vtu", "order-1"); got != "otldfyuxgdwdx3tgjejn" {
		t.Errorf("the reference is %s", got)
	}
	shape, seen := regexp.MustCompile(`^[a-z2-7]{20}$`), map[string]bool{}
	for _, of := range [][3]string{
		{"c", "vtu", "order-1"},
		{"c", "vtu", "order-2"},
		{"c", "card", "order-1"},
		{"d", "vtu", "order-1"},
		{"cv", "tu", "order-1"},
		{"c", "vtuo", "rder-1"},
		{"c", "vtu", ""},
		{"c", "", "vtu"},
		{"", "c", "vtu"},
		{"c", "3:vtu", "x"},
		{"c,3:vtu", "", "x"},
	} {
		got := operation.Reference(of[0], of[1], of[2])
		if !shape.MatchString(got) || seen[got] || got != operation.Reference(of[0], of[1], of[2]) {
			t.Errorf("%q: %s", of, got)
		}
		seen[got] = true
	}
}

// Operations with the same idempotency key have the same reference. Operations without an
// idempotency key have different references.
func TestTwoOperationsNeverShareAReference(t *testing.T) {
	each(t, func(t *testing.T, p *plant) {
		start := func(key string) operation.Operation {
			return p.Start(operation.Operation{
				Company: p.company, Kind: "test", IdempotencyKey: key, Provider: "bank", SettlementID: 1, Amount: price, Fee: fee,
			})
		}
		first, second := start("order-1"), start("order-1")
		if first.ID != operation.Reference(p.company, "test", "order-1") || second.ID != first.ID {
			t.Errorf("%s and %s", first.ID, second.ID)
		}
		p.must(p.book.Commit(t.Context(), p.Unit(first, 1, "a test")))
		err := p.book.Commit(t.Context(), p.Unit(second, 1, "a test"))
		if earlier, ok := operation.Earlier(err); !ok || earlier.ID != first.ID {
			t.Errorf("a second operation of one reference: %v", err)
		}
		other := start("order-2")
		other.ID = first.ID
		if err := p.book.Commit(t.Context(), p.Unit(other, 1, "a test")); err == nil {
			t.Error("another key took the same reference")
		}
		if a, b := start(""), start(""); a.ID == b.ID || len(a.ID) != 36 {
			t.Errorf("without a key: %s and %s", a.ID, b.ID)
		}
	})
}

// If a provider refuses a reference as a duplicate, the provider knows the reference. If its reply names another
// reference, the provider may know ours in another spelling. A later reply "no such reference" does not refund the
// company then, and operators decide.
func TestADuplicateIsNeverMissing(t *testing.T) {
	for _, code := range []string{provider.CodeDuplicate, provider.CodeOther} {
		each(t, func(t *testing.T, p *plant) {
			o := p.run(p.begin(), provider.Answer{Code: code})
			p.stands(o, operation.Pending)
			p.says(provider.Answer{Missing: true, Code: "404"})
			for next := o.NextAt; !next.IsZero(); next = p.poll(o) {
				p.clock.Advance(next.Sub(p.clock.Now()))
			}
			p.stands(o, operation.Pending)
			if cases := p.open(); len(cases) != 1 || cases[0].Reason != operation.Unresolved {
				t.Errorf("%s: cases: %+v", code, cases)
			}
		})
	}
}

// If a provider refuses a reference as a duplicate, a requery of that reference gives the
// operation's outcome.
func TestADuplicateTakesTheOutcomeThatIsFound(t *testing.T) {
	for outcome, want := range map[provider.Outcome]operation.State{provider.Confirmed: operation.Success, provider.Rejected: operation.Failed} {
		each(t, func(t *testing.T, p *plant) {
			o := p.run(p.begin(), provider.Answer{Code: provider.CodeDuplicate})
			p.says(provider.Answer{Outcome: outcome, Code: "found"})
			p.clock.Advance(5 * time.Second)
			p.poll(o)
			p.stands(o, want)
		})
	}
}

// A session ID is what each bank knows, so it replaces a bank's own id, and such an id does not replace it.
func TestABanksOwnIDReplacesNoSession(t *testing.T) {
	const own, session, other = "64f0c2a9e1b2c3d4e5f60718", "999240300102030405123456789012", "999240300102030405123456789013"
	for _, c := range [][3]string{
		{"", own, own}, {own, "", own}, {own, "64f0", "64f0"}, {own, session, session}, {session, own, session}, {session, "", session}, {session, other, other},
	} {
		each(t, func(t *testing.T, p *plant) {
			o := p.run(p.begin(), provider.Answer{Code: "09", Reference: c[0]})
			p.says(provider.Answer{Code: "09", Reference: c[1]})
			p.clock.Advance(time.Minute)
			p.poll(o)
			if now := p.stands(o, operation.Pending); now.ProviderReference != c[2] {
				t.Errorf("%q after %q: %q", c[1], c[0], now.ProviderReference)
			}
		})
	}
	for text, want := range map[string]string{"": "", own: "", session: session, session[1:]: "", session + "1": "", session[:29] + "x": ""} {
		if got := operation.SessionOf(text); got != want {
			t.Errorf("the session of %q is %q", text, got)
		}
	}
}
