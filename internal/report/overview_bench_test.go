package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkOverview reads the overview of 10,000 companies with eight ledger accounts each, 5,000 open
// operations, 200 open cases and eight days of hourly counts. The number of ledger entries does not matter,
// because the overview reads none.
func BenchmarkOverview(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		const companies = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 10000) `
		for _, statement := range []string{
			`INSERT INTO ledger_head (company_id, event_sequence, dated_at) ` + companies + `SELECT 'company' || i, 0, 0 FROM n`,
			`INSERT INTO ledger_account ` + companies + `SELECT 'company' || i, a.id, -99999999999, 0, 10000, 0, 0, '', 0 FROM n CROSS JOIN (
				SELECT 'settlement/1' AS id UNION SELECT 'settlement/2' UNION SELECT 'clearing/payout' UNION SELECT 'clearing/vtu' UNION SELECT 'clearing/card'
				UNION SELECT 'provider/main' UNION SELECT 'fee' UNION SELECT 'charge/main') AS a`,
			`INSERT INTO operation ` + companies + `SELECT 'company' || i, 'op' || i, 'payout', '', 'PENDING', 'main', 1, 10000, 50, 0, 0, 0, 0, 0, 'unknown', '', '', '', '',
				1893553445000000 - i * 30000000, 0, '', 0 FROM n WHERE i <= 5000`,
			`INSERT INTO job ` + companies + `SELECT 'company' || i, 'operation.resolve', 'op' || i, 'j' || i, 0, 0, 0, 1, '', 0, 'main' FROM n WHERE i <= 5000`,
			`INSERT INTO operation_case ` + companies + `SELECT 'company' || i, 'c' || i, 's' || i, 'UNKNOWN_DEBIT', 0, '', 5000, 'OPEN', '', '', '', 0, '', '', 0, 0, 1, 0, '' FROM n WHERE i <= 200`,
			`INSERT INTO report_hour ` + companies + `SELECT 'house', 1893553200000000 - (i / 12) * 3600000000, 'payout', 'p' || (i % 4), CASE i % 3 WHEN 0 THEN 'paid' WHEN 1 THEN 'failed' ELSE 'unknown' END, 5, 100
				FROM n WHERE i < 2400 AND i % 12 < 12 ON CONFLICT DO NOTHING`,
		} {
			if _, err := d.Exec(b.Context(), statement); err != nil {
				b.Fatal(err)
			}
		}
		if d.Dialect() == db.Postgres {
			if _, err := d.Exec(b.Context(), "ANALYZE"); err != nil {
				b.Fatal(err)
			}
		}
		clk := clock.At(now)
		s := report.New(d, clk)
		for b.Loop() {
			o, err := s.Overview(b.Context())
			if err != nil || o.Companies != 10_000 || o.Owed.Count != 20_000 {
				b.Fatal(o.Companies, o.Owed, err)
			}
			clk.Advance(5 * time.Second)
		}
	})
}
