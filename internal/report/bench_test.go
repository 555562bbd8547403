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
	"github.com/kobo-waas/kobo/internal/settlement"
)

// BenchmarkStatement writes a statement of a million entries in every format that
// has no end, and one as long as paper may be, and tells the most memory that
// the heap took while it did (peak-MB).
func BenchmarkStatement(b *testing.B) {
	d := dbtest.New(b, db.SQLite)
	w := newWorld(b, d)
	w.million(b, d)
	for name, write := range map[string]func(s *report.Statement, w io.Writer) error{
		"csv":  func(s *report.Statement, w io.Writer) error { return s.CSV(b.Context(), w) },
		"xlsx": func(s *report.Statement, w io.Writer) error { return s.XLSX(b.Context(), w) },
		"each": func(s *report.Statement, _ io.Writer) error {
			return s.Each(b.Context(), func(report.Entry) error { return nil })
		},
	} {
		b.Run(name, func(b *testing.B) { measure(b, w, w.clock.Now(), write) })
	}
	b.Run("pdf", func(b *testing.B) {
		measure(b, w, firstDay.Add(report.MostPrinted*time.Microsecond), func(s *report.Statement, w io.Writer) error {
			return s.PDF(b.Context(), w)
		})
	})
}

func measure(b *testing.B, w *world, to time.Time, write func(s *report.Statement, w io.Writer) error) {
	debug.FreeOSMemory()
	peak, done := make(chan uint64), make(chan struct{})
	ctx, stop := context.WithCancel(b.Context())
	go func() { peak <- watch(ctx); close(done) }()
	for range b.N {
		s, err := w.Statement(b.Context(), w.company, w.main, time.Time{}, to)
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

// million is a million entries, written past the ledger: a credit and a debit in
// turn, a microsecond apart.
func (w *world) million(b *testing.B, d *db.DB) {
	account := settlement.LedgerAccount(w.main)
	at := firstDay.UnixMicro()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) `
	for _, s := range []string{
		`INSERT INTO ledger_transfer (company_id, id, debit_account, credit_account, amount_kobo, kind, reference, narration, debit_entry, credit_entry, created_at) ` + numbers + `
			SELECT $1, 't' || i, 'a', $2, 300, 'credit', '0199c1f2-7b1e-7c0a-9d3e-' || printf('%012d', i), 'A transfer with the number ' || i, i, i, $3 + i FROM n`,
		`INSERT INTO ledger_entry (company_id, account_id, sequence, transfer_id, amount_kobo, previous_kobo, current_kobo, created_at) ` + numbers + `
			SELECT $1, $2, i, 't' || i, CASE i % 2 WHEN 1 THEN 300 ELSE -100 END, (i / 2) * 300 - ((i - 1) / 2) * 100, ((i + 1) / 2) * 300 - (i / 2) * 100, $3 + i FROM n`,
	} {
		_, err := d.Exec(b.Context(), s, w.company, account, at)
		must(b, err)
	}
	_, err := d.Exec(b.Context(), `UPDATE ledger_account SET entry_sequence = 1000000 WHERE company_id = $1 AND id = $2`, w.company, account)
	must(b, err)
	w.clock.Advance(time.Hour)
	b.ResetTimer()
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
