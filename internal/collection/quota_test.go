package collection_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/quota"
)

// A collection counts once in the quota, even if the request is repeated or the bank does not
// reply.
func TestTheQuotaOfVirtualAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		quotas := quota.New(h.db, h.book, h.clock)
		if err := quotas.Set(t.Context(), me, h.main.Company, quota.VirtualAccount, 2); err != nil {
			t.Fatal(err)
		}
		h.bank.next = func(a *provider.VirtualAccountAnswer) { *a = provider.VirtualAccountAnswer{} }
		if _, err := h.Generate(t.Context(), h.asks("order-1", 5000)); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
		h.generates(h.asks("order-1", 5000))
		h.generates(h.asks("order-1", 5000))
		h.generates(h.asks("order-2", 5000))
		_, err := h.Generate(t.Context(), h.asks("order-3", 5000))
		f := fault.Of(err)
		if f == nil || f.Kind != fault.Limited || f.Message != "Daily limit of 2 virtual accounts reached" || f.Retry <= 0 {
			t.Fatalf("the third: %v", err)
		}
		h.generates(h.asks("order-2", 5000)) // a repeated request for an existing collection needs no quota
		h.clock.Advance(f.Retry)
		h.generates(h.asks("order-3", 5000))
	})
}
