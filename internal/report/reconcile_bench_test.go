package report_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkReconcile compares twelve thousand lines of three days with the ledger of a company that
// is much older than three days. The older entries must not slow down the comparison.
func BenchmarkReconcile(b *testing.B) {
	for _, age := range []int{20_000, 1_000_000} {
		b.Run(fmt.Sprintf("operations=%d", age), func(b *testing.B) {
			dbtest.Each(b, func(b *testing.B, d *db.DB) { reconciled(b, d, age) })
		})
	}
}

const (
	every = 25 * time.Second
	busy  = 12_097 // the number of payouts since midnight in Lagos, 84 hours before the last payout
)

func reconciled(b *testing.B, d *db.DB, age int) {
	now := time.Date(2030, 1, 10, 12, 0, 0, 0, time.UTC)
	history(b, d, age, now)
	var lines []provider.StatementLine
	for i := age - busy + 1; i <= age; i++ {
		lines = append(lines, provider.StatementLine{
			ID: fmt.Sprint(i), Reference: fmt.Sprintf("00000000-0000-7000-8000-%012d", i), Amount: 1000,
			At: now.Add(-time.Hour - time.Duration(age-i)*every),
		})
	}
	s := report.New(d, clock.At(now))
	for b.Loop() {
		r, err := s.Reconcile(b.Context(), "bank", bankOf(lines), now.Add(-72*time.Hour), now)
		if err != nil || r.Lines != busy || r.Payments != busy || len(r.Breaks) != 0 {
			b.Fatalf("%d lines, %d payments, %+v, %v", r.Lines, r.Payments, r.Breaks[:min(3, len(r.Breaks))], err)
		}
	}
}

type bankOf []provider.StatementLine

func (l bankOf) Statement(context.Context, time.Time, time.Time, int) ([]provider.StatementLine, bool, error) {
	return l, false, nil
}

// history adds a company that made a payout every 25 seconds. The last payout was made an hour
// before now.
func history(b *testing.B, d *db.DB, n int, now time.Time) {
	b.Helper()
	ctx := db.WithLongTimeout(b.Context())
	company, book := id.Cuid(), ledger.New(d, clock.At(now))
	u := ledger.Found(company)
	u.OpenAccounts(ledger.Account{ID: "provider/bank", Floor: money.NoFloor}, ledger.Account{ID: "clearing/payout"})
	must(b, book.Commit(b.Context(), u))
	const rows = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT)), r AS (
			SELECT i, '00000000-0000-7000-8000-' || substr(CAST(1000000000000 + i AS TEXT), 2, 12) AS id,
				CAST($4 AS BIGINT) - (CAST($2 AS BIGINT) - i) * CAST($3 AS BIGINT) AS at FROM n) `
	last := now.Add(-time.Hour).UnixMicro()
	for _, statement := range []string{
		rows + `INSERT INTO operation SELECT $1, id, 'payout', id, 'SUCCESS', 'bank', 1, 1000, 0, at, 0, 0, 0, 0,
			'confirmed', '00', '', '', '', at, at, '', 0 FROM r`,
		rows + `INSERT INTO ledger_transfer SELECT $1, id, '', 'settlement/1', 'clearing/payout', 1000, 'payout', '', i, i, 0, at, 0, '' FROM r`,
		rows + `INSERT INTO ledger_transfer SELECT $1, id, 'settle', 'clearing/payout', 'provider/bank', 1000, 'payout', '', i, i, 0, at, 0, '' FROM r`,
		rows + `INSERT INTO ledger_entry SELECT $1, 'provider/bank', i, id, 'settle', 1000, (i - 1) * 1000, i * 1000, at FROM r`,
	} {
		_, err := d.Exec(ctx, statement, company, int64(n), every.Microseconds(), last)
		must(b, err)
	}
	_, err := d.Exec(ctx, `UPDATE ledger_account SET entry_sequence = 2 * CAST($2 AS BIGINT) WHERE company_id = $1 AND id = 'clearing/payout'`, company, int64(n))
	must(b, err)
	_, err = d.Exec(ctx, `UPDATE ledger_account SET entry_sequence = CAST($2 AS BIGINT), balance_kobo = CAST($2 AS BIGINT) * 1000 WHERE company_id = $1 AND id = 'provider/bank'`, company, int64(n))
	must(b, err)
	_, err = d.Exec(ctx, `ANALYZE`)
	must(b, err)
}
