package collection_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

func TestGenerate(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		second, err := h.settlements.Create(t.Context(), me, h.main.Company, "Second")
		if err != nil {
			t.Fatal(err)
		}
		r := h.asks("order-1", 5000)
		r.SettlementID, r.ValidFor, r.AccountName, r.Control = second.ID, 300*time.Second, "Shop", provider.OverPayment
		c := h.generates(r)
		if c.State != collection.Pending || c.SettlementID != second.ID || !c.ExpiresAt.Equal(h.clock.Now().Add(300*time.Second)) ||
			c.AccountNumber == "" || c.AccountName != "KOBO CHECKOUT" || c.BankName != "Safe Haven MFB" {
			t.Errorf("%+v", c)
		}
		if asked := h.bank.seen[0]; asked.Amount != 5000 || asked.Control != provider.OverPayment || asked.AccountName != "Shop" ||
			asked.ValidFor != 300*time.Second || asked.Reference == "" || asked.Reference == c.ID {
			t.Errorf("%+v", asked)
		}
		found, err := h.Find(t.Context(), c.Company, c.ID)
		if err != nil || found != c {
			t.Errorf("said %+v, is %+v, %v", c, found, err)
		}
		for _, wrong := range [][2]string{{h.account().Company, c.ID}, {c.Company, "nothing"}} {
			if _, err := h.Find(t.Context(), wrong[0], wrong[1]); !fault.Is(err, fault.Missing) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	})
}

func TestTheSameReferenceGivesTheSameCollection(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		c := h.generates(h.asks("order-1", 5000))
		explicit := h.asks("order-1", 5000)
		explicit.ValidFor, explicit.Control = 15*time.Minute, provider.Fixed
		for _, r := range []collection.Request{h.asks("order-1", 5000), explicit} {
			if again := h.generates(r); again != c {
				t.Errorf("%+v", again)
			}
		}
		h.passes(time.Hour)
		if again := h.generates(explicit); again.ID != c.ID || again.State != collection.Failed {
			t.Errorf("%+v", again)
		}
		if _, err := h.Generate(t.Context(), h.asks("order-1", 5001)); !fault.Is(err, fault.Refused) {
			t.Errorf("another request: %v", err)
		}
		if n := len(h.bank.seen); n != 1 {
			t.Errorf("the bank was asked %d times", n)
		}
		// Two companies may use the same external reference for different collections.
		other := h.account()
		if c2 := h.generates(collection.Request{Company: other.Company, ExternalReference: "order-1", Amount: 5000}); c2.ID == c.ID {
			t.Error("two companies have one collection")
		}
	})
}

func TestFiftyRequestsOpenOneAccount(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		var mu sync.Mutex
		ids := map[string]bool{}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				c, err := h.Generate(context.Background(), h.asks("order-1", 5000))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case fault.Is(err, fault.Conflict): // the first request is still running
				case err != nil:
					t.Error(err)
				default:
					ids[c.ID] = true
				}
			})
		}
		all.Wait()
		if len(ids) != 1 || len(h.bank.seen) != 1 {
			t.Errorf("%d collections, %d accounts", len(ids), len(h.bank.seen))
		}
	})
}

func TestAnswersOfTheBank(t *testing.T) {
	for name, c := range map[string]struct {
		next func(a *provider.VirtualAccountAnswer)
		kind fault.Kind
		open bool // the bank may have opened an account
	}{
		"nothing":       {func(a *provider.VirtualAccountAnswer) { *a = provider.VirtualAccountAnswer{} }, fault.Unavailable, true},
		"no account":    {func(a *provider.VirtualAccountAnswer) { a.Number = "" }, fault.Unavailable, true},
		"a panic":       {func(*provider.VirtualAccountAnswer) { panic("a plug's mistake") }, fault.Unavailable, true},
		"no connection": {func(a *provider.VirtualAccountAnswer) { a.Outcome, a.Code = provider.Rejected, provider.CodeNotSent }, fault.Unavailable, false},
		"no": {func(a *provider.VirtualAccountAnswer) {
			a.Answer = provider.Answer{Outcome: provider.Rejected, Code: "400", Message: "Amount too small"}
		}, fault.Refused, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, h *house) {
				h.bank.next = c.next
				_, err := h.Generate(t.Context(), h.asks("order-1", 5000))
				if !fault.Is(err, c.kind) || c.kind == fault.Refused && fault.Of(err).Message != "Failed to generate virtual account. Amount too small" {
					t.Errorf("%v", err)
				}
				// The company repeats the request, and an account is opened. If the bank may have
				// opened an account for the first request, Kobo first searches the bank's list, and
				// then asks the bank again with the same reference.
				got := h.generates(h.asks("order-1", 5000))
				looks := len(h.bank.look)
				if len(h.bank.seen) != 2 || looks > 1 || (h.bank.seen[0].Reference == h.bank.seen[1].Reference) != (looks == 1) || (looks == 1) != c.open {
					t.Errorf("looked for %q, asked for %+v", h.bank.look, h.bank.seen)
				}
				h.pays("s-1", got.AccountNumber, 5000)
				h.is(got, collection.Success, 5000)
			})
		})
	}
}

// The bank refuses a second request, with the reference of the first one, whose outcome is unknown. The first one may still be carried
// out, so the next request uses the same reference.
func TestARefusalOfASecondRequestIsNoOutcomeOfTheFirst(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.next = func(a *provider.VirtualAccountAnswer) { *a = provider.VirtualAccountAnswer{} }
		_, err := h.Generate(t.Context(), h.asks("order-1", 5000))
		if !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		h.bank.next = func(a *provider.VirtualAccountAnswer) {
			a.Answer = provider.Answer{Outcome: provider.Rejected, Code: "400", Message: "Try later"}
		}
		_, err = h.Generate(t.Context(), h.asks("order-1", 5000))
		if f := fault.Of(err); !fault.Is(err, fault.Refused) || f.Message != "Failed to generate virtual account. Try later" || f.Reason() != fault.BeingConfirmed {
			t.Error(err)
		}
		got := h.generates(h.asks("order-1", 5000))
		if n := len(h.bank.seen); n != 3 || h.bank.seen[0].Reference != h.bank.seen[1].Reference || h.bank.seen[1].Reference != h.bank.seen[2].Reference {
			t.Errorf("asked for %+v", h.bank.seen)
		}
		h.pays("s-1", got.AccountNumber, 5000)
		h.is(got, collection.Success, 5000)
	})
}

// The bank names an account that another company has. The company reads that the bank refused.
func TestAnAccountOfAnotherCompanyIsRefusedAsByTheBank(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.bank.next = func(a *provider.VirtualAccountAnswer) {
			if err := h.settlements.Enter(t.Context(), "another", a.Number, a.BankCode); err != nil {
				t.Error(err)
			}
		}
		_, err := h.Generate(t.Context(), h.asks("order-1", 5000))
		if !fault.Is(err, fault.Refused) || fault.Of(err).Message != "Failed to generate virtual account. The bank refused to open it." {
			t.Errorf("%v", err)
		}
	})
}

func TestAForeignSettlementAccountIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		// The settlement account of the different company has the number 2. The main company has no
		// settlement account with this number.
		foreign, err := h.settlements.Create(t.Context(), me, h.account().Company, "Second")
		if err != nil {
			t.Fatal(err)
		}
		r := h.asks("order-1", 5000)
		r.SettlementID = foreign.ID
		if _, err := h.Generate(t.Context(), r); err == nil || !strings.Contains(err.Error(), "Settlement account not found") {
			t.Errorf("%v", err)
		}
		if len(h.bank.seen) != 0 {
			t.Error("the bank was asked")
		}
	})
}

// If a request with an Idempotency-Key is interrupted after its first commit, a retry completes the
// opening. The retry's response is stored.
func TestACutOffRequestGoesOn(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ring, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		keys := idempotency.NewService(h.db, h.book, h.clock, ring)
		render := func(result any, err error) idempotency.Answer {
			if err != nil {
				return idempotency.Answer{Status: 400, Body: []byte(err.Error())}
			}
			return idempotency.Answer{Status: 200, Body: []byte(result.(collection.Collection).ID)}
		}
		open := func() (*idempotency.Key, *idempotency.Answer) {
			t.Helper()
			k, a, err := keys.Open(t.Context(), h.main.Company, "key-1", "f")
			if err != nil {
				t.Fatal(err)
			}
			if k != nil {
				k.Render(render)
			}
			return k, a
		}
		r := h.asks("order-1", 5000)
		r.Key, _ = open()
		h.bank.next = func(a *provider.VirtualAccountAnswer) { *a = provider.VirtualAccountAnswer{} }
		if _, err := h.Generate(t.Context(), r); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		r.Key, _ = open() // repeated immediately, as the error message advises
		if r.Key.Subject() == "" {
			t.Fatal("the key has forgotten what it began")
		}
		c := h.generates(r)
		if _, a := open(); a == nil || a.Status != 200 || string(a.Body) != c.ID {
			t.Errorf("%+v", a)
		}
	})
}
