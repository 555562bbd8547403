package company_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// BenchmarkAWrongKey measures the cost of a guessed API key. Kobo checks every guess, however
// many guesses have failed before.
func BenchmarkAWrongKey(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		book := ledger.New(d, clk)
		b.Cleanup(book.Drain)
		keys, err := secret.Parse(masterKey)
		if err != nil {
			b.Fatal(err)
		}
		s := company.New(d, book, keys, clk)
		c, _, err := s.Create(b.Context(), ada, "Acme Ltd")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, _, err := s.Tokens(b.Context(), c.Reference, "kobo_key_wrong"); !fault.Is(err, fault.Unauthenticated) {
				b.Fatal(err)
			}
		}
	})
}
