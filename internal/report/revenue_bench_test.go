package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkRevenue reads 30 days of revenue of 10,000 companies that have two rows on each of 60 days: the sums
// of all companies, the last page of companies, and a round of the job that finds nothing new.
func BenchmarkRevenue(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		const companies = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 10000),
			t (day) AS (SELECT CAST(21900 AS BIGINT) UNION ALL SELECT day + 1 FROM t WHERE day < 21959) `
		for _, statement := range []string{
			`INSERT INTO ledger_head (company_id, event_sequence, dated_at) ` + companies + `SELECT 'company' || i, 0, 0 FROM n`,
			`INSERT INTO ledger_account ` + companies + `SELECT 'company' || i, a.id, -99999999999, 0, 10000, 7, 0, '', 0 FROM n CROSS JOIN (
				SELECT 'settlement/1' AS id UNION SELECT 'clearing/payout' UNION SELECT 'clearing/vtu' UNION SELECT 'provider/main' UNION SELECT 'fee' UNION SELECT 'charge/main') AS a`,
			`INSERT INTO report_revenue_place SELECT company_id, id, 7 FROM ledger_account WHERE id IN ('fee', 'charge/main')`,
			`INSERT INTO report_revenue ` + companies + `SELECT 'company' || i, day, k.kind, 'main', 2500, 1, 1075, 1 FROM n CROSS JOIN t CROSS JOIN (SELECT 'payout' AS kind UNION SELECT 'vtu') AS k`,
			`INSERT INTO report_revenue_total SELECT 'house', day, kind, provider, CAST(sum(fee_kobo) AS BIGINT), 1, 1, 1 FROM report_revenue GROUP BY day, kind, provider`,
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
		from := time.Date(1970, 1, 1+21930, 0, 0, 0, 0, clock.Lagos)
		s := report.New(d, clock.At(from))
		b.Run("days", func(b *testing.B) {
			for b.Loop() {
				if r, err := s.Revenue(b.Context(), "", from, from.AddDate(0, 0, 30)); err != nil || len(r.Lines) != 60 || r.Total.Fees != 60*10_000*25_00 {
					b.Fatal(len(r.Lines), r.Total, err)
				}
			}
		})
		b.Run("companies", func(b *testing.B) {
			for b.Loop() {
				if page, _, err := s.RevenueByCompany(b.Context(), from, from.AddDate(0, 0, 30), "company994"); err != nil || len(page) != report.RevenueCompanies {
					b.Fatal(len(page), err)
				}
			}
		})
		b.Run("round", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.AddRevenue(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
