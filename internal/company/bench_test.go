package company_test

import (
	"context"
	"sync/atomic"
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

// BenchmarkARightPIN measures right PINs of one company, with 64 callers. Parameter other/s is the
// rate of the commits of another company with two callers at the same time.
func BenchmarkARightPIN(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		clk := clock.System{}
		book := ledger.New(d, clk)
		b.Cleanup(book.Drain)
		keys, err := secret.Parse(masterKey)
		if err != nil {
			b.Fatal(err)
		}
		s := company.New(d, book, keys, clk)
		one, _, err := s.Create(b.Context(), ada, "One Ltd")
		if err != nil {
			b.Fatal(err)
		}
		if err := s.SetPIN(b.Context(), ada, one.Reference, secret.NewText("1234")); err != nil {
			b.Fatal(err)
		}
		other, _, err := s.Create(b.Context(), ada, "Other Ltd")
		if err != nil {
			b.Fatal(err)
		}
		var left, commits atomic.Int64
		left.Store(int64(b.N))
		done := make(chan struct{})
		b.ResetTimer()
		for i := range 66 {
			go func() {
				for i < 2 && left.Load() > 0 {
					u := ledger.For(other.Reference)
					ada.Audit(&u, "bench", other.Reference, nil, clk.Now())
					if err := book.Commit(context.Background(), u); err != nil {
						b.Error(err)
					}
					commits.Add(1)
				}
				for left.Add(-1) >= 0 {
					if err := s.CheckPIN(context.Background(), one.Reference, "1234"); err != nil {
						b.Error(err)
					}
				}
				done <- struct{}{}
			}()
		}
		for range 66 {
			<-done
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pins/s")
		b.ReportMetric(float64(commits.Load())/b.Elapsed().Seconds(), "other/s")
	})
}
