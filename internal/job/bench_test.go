package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
)

// BenchmarkDueJobs measures how fast a worker runs due jobs that cost nothing, while 100,000 other
// jobs wait for their time. Run the benchmark with KOBO_TEST_DURABLE=1.
func BenchmarkDueJobs(b *testing.B) {
	for _, companies := range []int{1, 1000} {
		b.Run(fmt.Sprintf("companies=%d", companies), func(b *testing.B) {
			dbtest.EachForm(b, func(b *testing.B, d *db.DB) { benchmarkDueJobs(b, d, companies) })
		})
	}
}

func benchmarkDueJobs(b *testing.B, d *db.DB, companies int) {
	clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	names := make([]string, companies)
	for i := range names {
		names[i] = id.Cuid()
	}
	list := func(kind string, n int, at time.Time) {
		for first := 0; first < n; first += 5000 {
			var rows []db.Record
			for i := first; i < min(first+5000, n); i++ {
				rows = append(rows, job.Job{Kind: kind, Subject: id.New(), Provider: "bank", RunAt: at}.For(names[i%companies]))
			}
			if err := d.Insert(b.Context(), rows...); err != nil {
				b.Fatal(err)
			}
		}
	}
	list("later", 100_000, clk.Now().Add(time.Hour))
	list("now", b.N, clk.Now())
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	work := func(context.Context, job.Job) (time.Time, error) {
		if left.Add(-1) == 0 {
			close(done)
		}
		return time.Time{}, nil
	}
	w := job.NewWorker(d, clk, slog.New(slog.DiscardHandler), job.Config{Kinds: map[string]job.Work{"now": work, "later": work}})
	ctx, stop := context.WithCancel(b.Context())
	gone := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(gone)
		w.Run(ctx)
	}()
	<-done
	b.StopTimer()
	stop()
	<-gone
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkFairness measures how long a company's job waits while another company has 100,000 due jobs
// that take 5 milliseconds each: from its commit to its begin. Run the benchmark with KOBO_TEST_DURABLE=1.
func BenchmarkFairness(b *testing.B) {
	dbtest.EachForm(b, func(b *testing.B, d *db.DB) {
		clk := clock.System{}
		long, list := id.Cuid(), []db.Record(nil)
		for range 100_000 {
			list = append(list, job.Job{Kind: "ask", Subject: id.New(), Provider: "bank", RunAt: clk.Now().Add(-time.Hour)}.For(long))
		}
		for part := range slices.Chunk(list, 5000) {
			if err := d.Insert(b.Context(), part...); err != nil {
				b.Fatal(err)
			}
		}
		begun := make(chan time.Time, 1)
		work := func(_ context.Context, j job.Job) (time.Time, error) {
			if j.Company != long {
				begun <- time.Now()
				return time.Time{}, nil
			}
			<-time.After(5 * time.Millisecond)
			return time.Time{}, nil
		}
		w := job.NewWorker(d, clk, slog.New(slog.DiscardHandler), job.Config{Kinds: map[string]job.Work{"ask": work}})
		ctx, stop := context.WithCancel(b.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			w.Run(ctx)
		}()
		var worst time.Duration
		b.ResetTimer()
		for range b.N {
			if err := d.Insert(b.Context(), job.Job{Kind: "ask", Subject: "one", Provider: "bank", RunAt: clk.Now()}.For(id.Cuid())); err != nil {
				b.Fatal(err)
			}
			committed := time.Now()
			worst = max(worst, (<-begun).Sub(committed))
		}
		b.StopTimer()
		stop()
		<-gone
		b.ReportMetric(float64(worst.Milliseconds()), "worst-ms")
	})
}
