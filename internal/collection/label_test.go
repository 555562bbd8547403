package collection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/report"
)

// The entry of the payment that completes a collection, and each event, show the collection's
// reference and metadata. The entry of a second payment shows none.
func TestAPaymentShowsTheLabels(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		r := h.asks("order-1", 5000)
		r.Metadata = `{"branch":"Ikeja"}`
		c := h.generates(r)
		again := h.generates(r)
		r.Metadata = `{"branch":"Yaba"}`
		if _, err := h.Generate(t.Context(), r); again.ID != c.ID || err == nil {
			t.Errorf("%s and %s, %v", again.ID, c.ID, err)
		}
		h.pays("s-1", c.AccountNumber, 5000)
		h.pays("s-2", c.AccountNumber, 5000)
		entries, _, err := report.New(h.db, h.clock).Entries(t.Context(), h.main.Company, report.EntryFilter{}, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range entries {
			got += fmt.Sprintf("[%s %s]", e.Labels.ExternalReference, e.Labels.Metadata)
		}
		if !strings.Contains(got, `[order-1 {"branch":"Ikeja"}]`) || strings.Count(got, "order-1") != 1 {
			t.Error(got)
		}
		all, _, err := event.NewService(h.db, h.book).Feed(t.Context(), h.main.Company, 0, 100, 0)
		shown := 0
		for _, e := range all {
			if strings.HasPrefix(e.Kind, "virtual_account.") && strings.Contains(string(e.Data), `"metadata":{"branch":"Ikeja"}`) {
				shown++
			}
		}
		if err != nil || shown != 2 {
			t.Errorf("%d events, %v", shown, err)
		}
	})
}
