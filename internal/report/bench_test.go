package report_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkStatement writes a statement of a million entries in every format, and
// tells the most memory that the heap took while it did (peak-MB).
func BenchmarkStatement(b *testing.B) {
	dbtest.Each(b, million)
}

func million(b *testing.B, d *db.DB) {
	w := newWorld(b, d)
	w.many(1_000_000)
	for name, write := range map[string]func(s *report.Statement, w io.Writer) error{
		"csv":  func(s *report.Statement, w io.Writer) error { return s.CSV(b.Context(), w) },
		"xlsx": func(s *report.Statement, w io.Writer) error { return s.XLSX(b.Context(), w) },
		"pdf":  func(s *report.Statement, w io.Writer) error { return s.PDF(b.Context(), w) },
		"each": func(s *report.Statement, _ io.Writer) error {
			return s.Each(b.Context(), func(report.Entry) error { return nil })
		},
	} {
		b.Run(name, func(b *testing.B) { measure(b, w, write) })
	}
}

func measure(b *testing.B, w *world, write func(s *report.Statement, w io.Writer) error) {
	debug.FreeOSMemory()
	peak, done := make(chan uint64), make(chan struct{})
	ctx, stop := context.WithCancel(b.Context())
	go func() { peak <- watch(ctx); close(done) }()
	for range b.N {
		s, err := w.Statement(b.Context(), w.company, w.main, time.Time{}, time.Time{})
		must(b, err)
		n := &counter{}
		must(b, write(s, n))
		b.ReportMetric(float64(s.Count), "entries")
		b.ReportMetric(float64(n.bytes)/1e6, "MB")
	}
	stop()
	b.ReportMetric(float64(<-peak)/1e6, "peak-MB")
	<-done
}

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) { c.bytes += int64(len(p)); return len(p), nil }

// watch is the most memory the heap has taken from the machine until ctx ends.
func watch(ctx context.Context) (most uint64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
		}
	}
}

// TestASampleOfPaper writes the PDF of the tests into the folder named by
// KOBO_TEST_SAMPLES, for people who want to look at it.
func TestASampleOfPaper(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight()
	out := io.Discard
	if folder := os.Getenv("KOBO_TEST_SAMPLES"); folder != "" {
		f, err := os.Create(strings.TrimSuffix(folder, "/") + "/statement.pdf")
		must(t, err)
		defer func() { must(t, f.Close()) }()
		out = f
	}
	must(t, w.statement(time.Time{}, time.Time{}).PDF(t.Context(), out))
}
