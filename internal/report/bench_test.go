package report_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkStatement reads a statement of a million entries from a running program, in every
// format. The metric heap-MB is the largest heap, and grown-MB is the growth of the process (on
// Linux). The sub-benchmark "each" only reads the entries and writes no format.
func BenchmarkStatement(b *testing.B) {
	for _, dialect := range dbtest.Dialects {
		b.Run(string(dialect), func(b *testing.B) {
			p := apptest.Start(b, dialect)
			a, err := p.App.Settlements.Create(b.Context(), me, p.Reference, "A million entries")
			must(b, err)
			since := p.App.Clock.Now()
			must(b, many(b.Context(), p.App.DB, p.Reference, a.ID, since, 1_000_000))
			tokens, _, err := p.Tokens(b.Context())
			must(b, err)
			b.Run("each", func(b *testing.B) {
				measure(b, func() int64 {
					s, err := p.App.Reports.Statement(b.Context(), p.Reference, a.ID, time.Time{}, time.Time{})
					must(b, err)
					must(b, s.Each(b.Context(), func(report.Entry) error { return nil }))
					return 0
				})
			})
			for _, format := range []string{"json", "csv", "xlsx", "pdf"} {
				url := fmt.Sprintf("%s/api/v1/settlement/statement?settlementId=%d&format=%s", p.BaseURL, a.ID, format)
				b.Run(format, func(b *testing.B) {
					measure(b, func() int64 { return fetch(b, url, tokens.AccessToken) })
				})
			}
		})
	}
}

// fetch reads a response to its end and returns its length in bytes.
func fetch(b *testing.B, url, token string) int64 {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	must(b, err)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	must(b, err)
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		b.Fatalf("status %d", answer.StatusCode)
	}
	n, err := io.Copy(io.Discard, answer.Body)
	must(b, err)
	return n
}

func measure(b *testing.B, do func() int64) {
	debug.FreeOSMemory()
	before := resident(b, true)
	peak := make(chan uint64)
	ctx, stop := context.WithCancel(b.Context())
	go func() { peak <- watch(ctx) }()
	for range b.N {
		b.ReportMetric(float64(do())/1e6, "MB")
	}
	stop()
	b.ReportMetric(float64(<-peak)/1e6, "heap-MB")
	if after := resident(b, false); after > 0 {
		b.ReportMetric(float64(after-before)/1e3, "grown-MB")
	}
}

// resident returns the peak memory of the process in kilobytes since the last reset, or 0 if the
// peak is unknown. If anew is true, resident resets the peak first.
func resident(b *testing.B, anew bool) (kilobytes int) {
	if anew && os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) != nil {
		return 0
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(rest, &kilobytes)
	must(b, err)
	return kilobytes
}

// watch measures the heap until ctx ends, and returns the largest size.
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

// TestWriteASamplePDF writes a sample PDF to the folder that KOBO_TEST_SAMPLES names. A developer
// can look at that PDF.
func TestWriteASamplePDF(t *testing.T) {
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
