package collection_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/provider"
)

// The list has the company's collections, newest first. Each filter narrows the rows and the count.
func TestTheListIsFiltered(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		start := h.clock.Now()
		for _, reference := range []string{"first", "second", "third", "fourth"} {
			c := h.generates(h.asks(reference, 2500))
			if reference == "second" {
				h.pays("000013300102030405123456789012", c.AccountNumber, 2500)
			}
			h.clock.Advance(time.Minute)
		}
		h.bank.next = func(a *provider.VirtualAccountAnswer) { a.Answer = provider.Answer{Outcome: provider.Unknown} }
		if _, err := h.Generate(t.Context(), h.asks("opening", 2500)); err == nil {
			t.Error("the bank did not respond, but the account is open")
		}
		for name, c := range map[string]struct {
			filter        collection.Filter
			offset, limit int
			total         int
			want          string
		}{
			"all":              {collection.Filter{}, 0, 50, 4, "fourth third second first "},
			"the second page":  {collection.Filter{}, 2, 1, 4, "second "},
			"past the end":     {collection.Filter{}, 9, 50, 4, ""},
			"paid":             {collection.Filter{State: collection.Success}, 0, 50, 1, "second "},
			"waiting":          {collection.Filter{State: collection.Pending}, 0, 50, 3, "fourth third first "},
			"from":             {collection.Filter{From: start.Add(2 * time.Minute)}, 0, 50, 2, "fourth third "},
			"to":               {collection.Filter{To: start.Add(2 * time.Minute)}, 0, 50, 2, "second first "},
			"by reference":     {collection.Filter{ExternalReference: "third"}, 0, 50, 1, "third "},
			"of the account":   {collection.Filter{SettlementID: h.main.ID, From: start.Add(time.Minute), To: start.Add(3 * time.Minute)}, 0, 50, 2, "third second "},
			"of no account":    {collection.Filter{SettlementID: h.main.ID + 1}, 0, 50, 0, ""},
			"an opening alone": {collection.Filter{ExternalReference: "opening"}, 0, 50, 0, ""},
		} {
			list, total, err := h.List(t.Context(), h.main.Company, c.filter, c.offset, c.limit)
			got := ""
			for _, row := range list {
				got += row.ExternalReference + " "
			}
			if err != nil || total != c.total || got != c.want {
				t.Errorf("%s: %q of %d, %v; want %q of %d", name, got, total, err, c.want, c.total)
			}
		}
		if list, total, err := h.List(t.Context(), h.account().Company, collection.Filter{}, 0, 50); err != nil || total != 0 || len(list) != 0 {
			t.Errorf("a different company sees %v of %d, %v", list, total, err)
		}
	})
}
