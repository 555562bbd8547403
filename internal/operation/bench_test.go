package operation_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// BenchmarkCommit measures how fast operations are committed, for several numbers of companies and
// callers. Each operation has two units. The first has an operation, a transfer with its two
// entries, an event and a job. The second has the outcome: a changed operation, a transfer with its
// two entries, and an event. Run the benchmark with KOBO_TEST_DURABLE=1. Otherwise PostgreSQL does
// not wait for its disk.
func BenchmarkCommit(b *testing.B) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, companies := range []int{1, 1000, 10_000} {
			for _, callers := range []int{1, 16, 64} {
				b.Run(fmt.Sprintf("%s/companies=%d/callers=%d", dialect, companies, callers), func(b *testing.B) {
					benchmarkCommit(b, dialect, companies, callers)
				})
			}
		}
	}
}

func benchmarkCommit(b *testing.B, dialect db.Dialect, companies, callers int) {
	d := dbtest.New(b, dialect)
	book := ledger.New(d, clock.System{})
	s := operation.NewService(d, book, clock.System{}, slog.New(slog.DiscardHandler), 5*time.Second)
	s.Handle("bench", operation.Kind{
		Route: func(operation.Operation) operation.Route {
			return operation.Route{Settlement: "settlement/1", Clearing: "clearing/bench", Provider: "provider/bench"}
		},
		Effects: func(_ context.Context, o operation.Operation, u *ledger.Unit) error {
			event.Emit(u, event.VTUSuccess, map[string]string{"transactionId": o.ID})
			return nil
		},
	})
	paid := func(context.Context) provider.Answer {
		return provider.Answer{Outcome: provider.Confirmed, Reference: "bench"}
	}
	names := foundMany(b, book, companies)
	var next atomic.Int64
	b.ResetTimer()
	parallel(b, callers, func() {
		company := names[int(next.Add(1))%companies]
		o := s.Start(operation.Operation{
			Company: company, Kind: "bench", IdempotencyKey: id.New(), Provider: "bench", SettlementID: 1, Amount: 1,
		})
		u := s.Unit(o, 0, "bench")
		event.Emit(&u, event.VTUPending, map[string]string{"transactionId": o.ID})
		err := book.Commit(context.Background(), u)
		if err == nil {
			o, err = s.Run(context.Background(), o, paid, func(operation.Operation, *ledger.Unit) {})
		}
		if err != nil || o.State != operation.Success {
			b.Errorf("%s: %v", o.State, err)
		}
	})
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "units/s")
}

// parallel runs work b.N times in total. Parameter callers is the number of goroutines that share
// the runs.
func parallel(b *testing.B, callers int, work func()) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	for range callers {
		go func() {
			for left.Add(-1) >= 0 {
				work()
			}
			done <- struct{}{}
		}()
	}
	for range callers {
		<-done
	}
}

func foundMany(b *testing.B, book *ledger.Book, n int) []string {
	names := make([]string, n)
	var left atomic.Int64
	left.Store(int64(n))
	done := make(chan struct{})
	for range 64 {
		go func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				names[i] = id.Cuid()
				u := ledger.Found(names[i])
				u.OpenAccounts(ledger.Account{ID: "settlement/1"}, ledger.Account{ID: "capital", Floor: money.NoFloor})
				u.Transfer(ledger.Transfer{Reference: id.New(), Debit: "capital", Credit: "settlement/1", Amount: 1_000_000_000, Kind: "credit"})
				err := book.Commit(context.Background(), u)
				if err != nil {
					b.Error(err)
				}
			}
			done <- struct{}{}
		}()
	}
	for range 64 {
		<-done
	}
	return names
}
