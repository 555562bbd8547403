package customer_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// BenchmarkTransactions measures how long Kobo takes to list a page of a company's transactions.
// The company has a million transactions, or KOBO_BENCH_ROWS. The benchmark reads the first page,
// a middle page, the last page and one customer's page. It fails if a page takes more than 20 ms
// on average.
func BenchmarkTransactions(b *testing.B) {
	rows := 1_000_000
	if text := os.Getenv("KOBO_BENCH_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for _, dialect := range dbtest.Dialects {
		w := newWorld(b, dbtest.New(b, dialect))
		w.fill(b, rows)
		for name, offset := range map[string]int{"first": 0, "middle": rows / 2, "last": rows - 100} {
			b.Run(fmt.Sprintf("%s/page=%s", dialect, name), func(b *testing.B) {
				w.page(b, func() (int, error) {
					list, total, err := w.Transactions(b.Context(), w.company, customer.TransactionFilter{}, offset, 100)
					if total != rows {
						b.Fatalf("%d transactions", total)
					}
					return len(list), err
				})
			})
		}
		b.Run(fmt.Sprintf("%s/customer", dialect), func(b *testing.B) {
			w.page(b, func() (int, error) {
				list, err := w.TransactionsOf(b.Context(), w.company, "customer-7")
				return len(list), err
			})
		})
	}
}

func (w *world) page(b *testing.B, read func() (int, error)) {
	var longest time.Duration
	for b.Loop() {
		begun := time.Now()
		n, err := read()
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
		longest = max(longest, time.Since(begun))
	}
	mean := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
	if mean > 20*time.Millisecond {
		b.Errorf("a page takes %s", mean)
	}
}

// fill gives the company a hundred customers and this number of transactions.
func (w *world) fill(b *testing.B, rows int) {
	const count = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT)) SELECT `
	now := clock.Micros(w.clock.Now())
	for _, s := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO customer ` + count + `$1, 'customer-' || CAST(i AS TEXT), i, 'Ada', '', 'Tester', 'ada@example.test', '08012345678',
			'', '', '', 'ACTIVE', CAST($3 AS BIGINT), CAST($3 AS BIGINT) FROM n`, []any{w.company, 100, now}},
		{`INSERT INTO customer_transaction ` + count + `$1, i, 'transaction-' || CAST(i AS TEXT), 'customer-' || CAST(1 + i % 100 AS TEXT),
			1, 500, 'CREDIT', 'SUCCESS', 'narration', 'session-' || CAST(i AS TEXT), CAST($3 AS BIGINT) FROM n`, []any{w.company, rows, now}},
		{`INSERT INTO ledger_counter (company_id, name, value) VALUES ($1, 'customer.transaction', $2)`, []any{w.company, rows}},
	} {
		if _, err := w.db.Exec(b.Context(), s.text, s.args...); err != nil {
			b.Fatal(err)
		}
	}
	if w.db.Dialect() == db.Postgres {
		if _, err := w.db.Exec(b.Context(), "ANALYZE"); err != nil {
			b.Fatal(err)
		}
	}
}
