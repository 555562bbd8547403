package report_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/figure"
	"github.com/kobo-waas/kobo/internal/report"
)

// gathered returns the values of the service's gauges, by name and labels. It fails the test if a
// source could not be read.
func gathered(t testing.TB, d *db.DB, now time.Time) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	for _, c := range report.New(d, clock.At(now)).Metrics(slog.Default()) {
		registry.MustRegister(c)
		if s, ok := c.(*figure.Source); ok {
			if _, err := s.Read(t.Context()); err != nil {
				t.Fatal(s.Name, err)
			}
		}
	}
	families, err := registry.Gather()
	must(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "kobo_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			out[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

// The gauges add up the rows of all companies that are open, due or waiting, and no others.
func TestFiguresShowMoneyAndWork(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
		ago := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
		rows := func(statement string, rows ...[]any) {
			t.Helper()
			for _, args := range rows {
				if _, err := d.Exec(t.Context(), statement, args...); err != nil {
					t.Fatal(err)
				}
			}
		}
		rows(`INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ($1, 0, 0)`, []any{"acme"}, []any{"bolt"}, []any{"house"})
		rows(`INSERT INTO ledger_account VALUES ($1, $2, 0, 0, $3, 0, 0, '', 0)`,
			[]any{"acme", "clearing/vtu", 100_50}, []any{"bolt", "clearing/vtu", 200_00}, []any{"bolt", "clearing/payout", 0},
			[]any{"acme", "settlement/1", 999_00}, []any{"house", "suspense/inbound", 70_00})
		rows(`INSERT INTO operation VALUES ($1, $2, $3, '', $4, 'bank', 1, $5, 50, 0, 0, 0, 0, 0, '', '', '', '', '', $6, 0, '', 0)`,
			[]any{"acme", "old", "vtu", "PENDING", 100_00, ago(time.Hour)},
			[]any{"bolt", "new", "vtu", "PENDING", 199_50, ago(time.Minute)},
			[]any{"bolt", "done", "vtu", "SUCCESS", 500_00, ago(time.Hour)})
		rows(`INSERT INTO operation_case VALUES ($1, $2, $3, $4, 0, '', 0, $5, '', '', '', 0, '', '', 0, 0, $6, 0, '')`,
			[]any{"acme", "1", "old", "UNRESOLVED", "OPEN", ago(3 * time.Hour)},
			[]any{"bolt", "2", "done", "UNRESOLVED", "OPEN", ago(2 * time.Hour)},
			[]any{"bolt", "3", "gone", "CONTRADICTION", "RESOLVED", ago(9 * time.Hour)})
		rows(`INSERT INTO job VALUES ($1, $2, $3, '', $4, $5, 0, 0, '', $6, $7)`,
			[]any{"bolt", "operation.resolve", "new", ago(-time.Minute), 0, 0, "bank"},
			[]any{"bolt", "operation.recheck", "done", ago(5 * time.Minute), 0, 0, "bank"},
			[]any{"acme", "operation.recheck", "other", ago(2 * time.Minute), ago(time.Minute), 0, "bank"},
			[]any{"acme", "operation.recheck", "held", ago(9 * time.Minute), ago(-time.Minute), 0, "bank"},
			[]any{"house", "inbox.work", "n1", ago(-time.Minute), 0, ago(10 * time.Minute), "bank"},
			[]any{"house", "inbox.work", "n2", ago(time.Second), 0, ago(time.Second), "bank"})
		rows(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at) VALUES ('house', $1, $2, 0, 0, 0, $3)`,
			[]any{"bank", ago(72 * time.Hour), ago(4 * time.Minute)}, []any{"new", ago(time.Minute), 0})
		rows(`INSERT INTO inbox_account (company_id, provider, account, account_number, main, done_until, round_at, page, next_until, due_at, polled_at, failures, retired_at)
			VALUES ('house', 'bank', $1, $1, 0, 0, 0, 0, 0, 0, $2, $3, $4)`,
			[]any{"1", ago(4 * time.Minute), 0, 0}, []any{"2", ago(5 * time.Hour), 2, 0}, []any{"3", ago(time.Hour), 0, 0}, []any{"4", ago(90 * time.Hour), 9, ago(time.Hour)})
		rows(`UPDATE inbox_sweep SET unlisted = $1 WHERE company_id = 'house' AND provider = 'bank'`, []any{6})
		rows(`INSERT INTO inbox_sweep (company_id, provider, done_until, round_at, page, next_until, finished_at) VALUES ('house', $1, $2, 0, 0, 0, $2)`,
			[]any{"ahead", ago(-3 * time.Hour)}) // a clock was ahead
		rows(`INSERT INTO crypto_cursor (custody, cursor, reader, lease_until, updated_at) VALUES ($1, '', '', 0, $2)`,
			[]any{"node:base", ago(time.Minute)}, []any{"balances:base", ago(time.Hour)})
		rows(`INSERT INTO report_progress VALUES ($1, 0, '', '', '', $2, 0, 0)`,
			[]any{"acme", `["one","two"]`}, []any{"bolt", `null`}, []any{"house", ``})
		s := report.New(d, clock.At(now.Add(-30*time.Hour)))
		must(t, s.AwaitReconciliation(t.Context(), "new"))
		must(t, s.Reconciled(t.Context(), report.Reconciliation{Bank: "bank"}))
		must(t, report.New(d, clock.At(now)).AwaitReconciliation(t.Context(), "bank"))
		got := gathered(t, d, now)
		for name, want := range map[string]float64{
			"cases_open UNRESOLVED": 2, "cases_oldest_seconds UNRESOLVED": 3 * 3600,
			"cases_open CONTRADICTION": 0, "cases_oldest_seconds CONTRADICTION": 0,
			"operations_pending vtu": 2, "operations_pending_naira vtu": 300.5, "operations_pending_oldest_seconds vtu": 3600,
			"operations_pending payout": 0, "operations_pending_oldest_seconds payout": 0,
			"clearing_naira vtu": 300.5, "clearing_naira payout": 0, "clearing_naira card": 0, "suspense_naira": 70,
			"jobs_due operation.recheck bank": 2, "jobs_oldest_seconds operation.recheck bank": 300,
			"jobs_due operation.resolve bank": 0, "jobs_oldest_seconds operation.resolve bank": 0, "jobs_due inbox.work bank": 1,
			"inbox_waiting bank": 2, "inbox_oldest_seconds bank": 600,
			"credit_poll_age_seconds bank": 240, "credit_poll_age_seconds new": 60,
			"credit_poll_oldest_seconds bank": 5 * 3600, "credit_poll_oldest_seconds new": 60,
			"credit_poll_age_seconds ahead":  3 * 3600,
			"credit_poll_accounts bank read": 2, "credit_poll_accounts bank failing": 1, "credit_poll_accounts bank retired": 1, "credit_poll_unlisted bank": 6,
			"credit_poll_accounts new read": 0, "credit_poll_accounts new retired": 0, "credit_poll_unlisted new": 0,
			"reconciliation_age_seconds bank": 30 * 3600, "reconciliation_age_seconds new": 30 * 3600,
			"provider_unknown 5m bank": 1, "provider_unknown_naira 5m bank": 200, "provider_unknown 1h bank": 0, "provider_unknown_naira 1h bank": 0,
			"provider_unknown 24h bank": 1, "provider_unknown_naira 24h bank": 100.5, "provider_unknown older bank": 0,
			"custodian_read_age_seconds node:base": 60,
			"walk_companies_wrong":                 1, "walk_findings": 2, "integrity_failures_total": 0,
		} {
			if v, there := got[name]; !there || v != want {
				t.Errorf("%s is %v, %v; want %v", name, v, there, want)
			}
		}
	})
}

// The age of the newest checkpoint counts while a company has rows above its own last checkpoint.
func TestTheAgeOfTheNewestCheckpoint(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
		step := func(want time.Duration, statement string, args ...any) {
			t.Helper()
			_, err := d.Exec(t.Context(), statement, args...)
			must(t, err)
			if got := gathered(t, d, now)["evidence_checkpoint_age_seconds"]; got != want.Seconds() {
				t.Errorf("%v, want %v after %s", got, want, statement)
			}
		}
		const head = `UPDATE ledger_head SET leaf = $1 WHERE company_id = 'acme'`
		const checkpoint = `INSERT INTO evidence_checkpoint (company_id, size, root, note, leaf, state, created_at) VALUES ($1, $2, '', '', 0, 'TOLD', $3)`
		step(0, `INSERT INTO company (company_id, name, kyb_status, live, created_at, updated_at) VALUES ('acme', '', 'APPROVED', 1, $1, 0)`, clock.Micros(now.Add(-9*time.Hour)))
		step(0, `INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ('acme', 0, 0)`)
		step(9*time.Hour, head, 5)
		step(7*time.Hour, checkpoint, "deployment", 1, clock.Micros(now.Add(-7*time.Hour)))
		step(7*time.Hour, checkpoint, "acme", 5, clock.Micros(now.Add(-time.Hour)))
		step(0, `INSERT INTO evidence_tree (company_id, size) VALUES ('acme', 5)`)
		step(0, head, 6)
		step(7*time.Hour, head, 7)
		step(2*time.Hour, checkpoint, "deployment", 2, clock.Micros(now.Add(-2*time.Hour)))
	})
}

// BenchmarkFigures reads each source of metrics from a database with ten thousand companies, a million
// finished operations and ten thousand PENDING ones.
func BenchmarkFigures(b *testing.B) {
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		const n = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($1 AS BIGINT)) `
		ctx := db.WithLongTimeout(b.Context())
		for _, fill := range []struct {
			rows      int
			statement string
		}{
			{10_000, `INSERT INTO ledger_head SELECT 'c' || i, 0, 0, 0, '' FROM n`},
			{100_000, `INSERT INTO ledger_account SELECT 'c' || (i % 10000 + 1), CASE i / 10000 WHEN 0 THEN 'clearing/vtu' WHEN 1 THEN 'clearing/payout'
				WHEN 2 THEN 'clearing/card' ELSE 'settlement/' || i END, 0, 0, 100, 0, 0, '' FROM n`},
			{1_000_000, `INSERT INTO operation SELECT 'c' || (i % 10000 + 1), 'o' || i, 'vtu', '', CASE WHEN i <= 10000 THEN 'PENDING' ELSE 'SUCCESS' END,
				'bank', 1, 100, 0, 0, 0, 0, 0, 0, '', '', '', '', '', 1, 0 FROM n`},
			{10_000, `INSERT INTO job SELECT 'c' || (i % 10000 + 1), 'operation.resolve', 'o' || i, '', i, 0, 0, 0, '', 0, 'bank' FROM n`},
			{200_000, `INSERT INTO job SELECT 'c' || (i % 10000 + 1), 'operation.recheck', 'r' || i, '', i, 0, 0, 0, '', 0, 'bank' FROM n`},
			{100_000, `INSERT INTO operation_case SELECT 'c' || (i % 10000 + 1), 'k' || i, 'k' || i, 'UNRESOLVED', 0, '', 0,
				CASE WHEN i <= 100 THEN 'OPEN' ELSE 'RESOLVED' END, '', '', '', 0, '', '', 0, 0, 0, 0, '' FROM n`},
			{10_000, `INSERT INTO report_progress SELECT 'c' || i, 0, '', '', '', '[]', 0, 0 FROM n`},
		} {
			if _, err := d.Exec(ctx, n+fill.statement, fill.rows); err != nil {
				b.Fatal(fmt.Errorf("%w: %s", err, fill.statement))
			}
		}
		for _, c := range report.New(d, clock.System{}).Metrics(slog.Default()) {
			s, ok := c.(*figure.Source)
			if !ok {
				continue
			}
			b.Run(s.Name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Read(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
