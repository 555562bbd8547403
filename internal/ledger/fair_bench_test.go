package ledger

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
)

// BenchmarkFair measures how long a company with 2 callers waits for a commit, alone and while
// another company has 64 callers. The metrics are the median and the p99.
func BenchmarkFair(b *testing.B) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, flood := range []int{0, 64} {
			b.Run(fmt.Sprintf("%s/flood=%d", dialect, flood), func(b *testing.B) {
				book := New(dbtest.New(b, dialect), clock.System{})
				for _, company := range []string{"flooding", "polite"} {
					u := Found(company)
					u.OpenAccounts(Account{ID: "settlement"}, Account{ID: "capital", Floor: money.NoFloor})
					if err := book.Commit(b.Context(), u); err != nil {
						b.Fatal(err)
					}
				}
				var over atomic.Bool
				var flooded atomic.Int64
				var all sync.WaitGroup
				for range flood {
					all.Go(func() {
						for ; !over.Load(); flooded.Add(1) {
							pay(b, book, "flooding")
						}
					})
				}
				b.ResetTimer()
				waits := polite(b, book)
				b.StopTimer()
				over.Store(true)
				all.Wait()
				slices.Sort(waits)
				b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
				b.ReportMetric(float64(flooded.Load())/b.Elapsed().Seconds(), "flood/s")
			})
		}
	}
}

// polite commits b.N units with 2 callers and returns how long each unit took.
func polite(b *testing.B, book *Book) []time.Duration {
	waits := make([]time.Duration, b.N)
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				begun := time.Now()
				pay(b, book, "polite")
				waits[i] = time.Since(begun)
			}
		})
	}
	callers.Wait()
	return waits
}

func pay(b *testing.B, book *Book, company string) {
	u := For(company)
	u.Transfer(Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement", Amount: 1, Kind: "credit"})
	if err := book.Commit(context.Background(), u); err != nil {
		b.Error(err)
	}
}
