package report_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/report"
)

// BenchmarkVerify compares all copies of the facts of a company with a quarter of a million
// payouts, which have a million entries. KOBO_TEST_PAYOUTS sets a different number of payouts. The
// sub-benchmark "walk" measures the daily walk. The sub-benchmark "integrity" measures the check that
// a company can request, when nothing is new since the walk.
func BenchmarkVerify(b *testing.B) {
	payouts := int64(250_000)
	if text := os.Getenv("KOBO_TEST_PAYOUTS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		must(b, err)
		payouts = n
	}
	dbtest.Each(b, func(b *testing.B, d *db.DB) {
		company := id.Cuid()
		paidOften(b, d, company, payouts)
		r := report.New(d, clock.System{})
		began := time.Now()
		b.Logf("%d rows signed in %v", signAll(b, d, company), time.Since(began))
		b.Run("walk", func(b *testing.B) {
			for b.Loop() {
				done, wrongs, err := r.WalkRows(b.Context(), company, math.MaxInt)
				if err != nil || !done || len(wrongs) > 0 {
					b.Fatalf("%q, %v", wrongs, err)
				}
			}
		})
		b.Run("integrity", func(b *testing.B) {
			for b.Loop() {
				i, err := r.Integrity(b.Context(), company)
				if err != nil || !i.Intact() || i.Entries != 4*payouts+2 {
					b.Fatalf("%+v, %v", i, err)
				}
			}
		})
		b.Run("verify", func(b *testing.B) {
			before := processorTime(b, d)
			measure(b, func() int64 {
				v, err := r.Verify(b.Context(), company)
				if err != nil || !v.Sound() || v.Unsigned > 0 || v.Entries != 4*payouts+2 {
					b.Fatalf("%q, %v", v.Lines(), err)
				}
				return 0
			})
			b.ReportMetric((processorTime(b, d)-before).Seconds()/float64(b.N), "cpu-s")
		})
	})
}

// processorTime returns the processor time of this process and of PostgreSQL's processes for its connections
// (on Linux). On a busy machine it says more than the time that passes.
func processorTime(b *testing.B, d *db.DB) (sum time.Duration) {
	b.Helper()
	pids := []string{"self"}
	if d.Dialect() == db.Postgres {
		of, err := db.All(b.Context(), d, db.Value[string], `SELECT CAST(pid AS TEXT) FROM pg_stat_activity WHERE datname = current_database()`)
		must(b, err)
		pids = append(pids, of...)
	}
	for _, pid := range pids {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		must(b, err)
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // after the name of the program
		var user, system int64
		must(b, db.Numbers(fields[11:], &user, &system))
		sum += time.Duration(user+system) * 10 * time.Millisecond
	}
	return sum
}

// The rows of BenchmarkVerify are sound, so it measures what kobo verify does with a sound ledger.
func TestTheRowsOfTheBenchmarkAreSound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		company := id.Cuid()
		paidOften(t, d, company, 30)
		signAll(t, d, company)
		v, err := report.New(d, clock.System{}).Verify(t.Context(), company)
		if err != nil || !v.Sound() || v.Unsigned > 0 || v.Entries != 122 {
			t.Errorf("%q, %d unsigned, %d entries, %v", v.Lines(), v.Unsigned, v.Entries, err)
		}
	})
}

// Adopt numbers the rows table by table, in the order of their keys, also after an interruption and beside rows
// that have a number already.
func TestRowsAreAdoptedInTheOrderOfTheirKeys(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const payouts = 300
		company, book := id.Cuid(), ledger.New(d, clock.System{})
		paidOften(t, d, company, payouts)
		u := ledger.For(company)
		u.OpenAccounts(ledger.Account{ID: "settlement/2"})
		u.Transfer(ledger.Transfer{Reference: "00000000-0000-7000-8000-000000000150x", Debit: "provider/bank", Credit: "settlement/2", Amount: 1, Kind: "test"})
		must(t, book.Commit(t.Context(), u)) // it has the number 1, and stands among the old rows
		interrupted, interrupt := context.WithCancel(t.Context())
		if err := book.Adopt(interrupted, company, func(int) { interrupt() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
		signed := 0
		must(t, book.Adopt(t.Context(), company, func(n int) { signed += n }))
		if want := 4*payouts + 3 - 500; signed != want {
			t.Errorf("%d rows signed after the interruption, want %d", signed, want)
		}
		must(t, book.Adopt(t.Context(), company, func(n int) { t.Errorf("%d rows signed again", n) }))
		var got, want []int64
		for _, query := range []string{
			`SELECT leaf FROM event WHERE company_id = $1 AND leaf <> 1 ORDER BY sequence`,
			`SELECT leaf FROM ledger_transfer WHERE company_id = $1 AND leaf <> 1 ORDER BY reference, step`,
			`SELECT leaf FROM operator_audit WHERE company_id = $1 ORDER BY id`,
		} {
			leaves, err := db.All(t.Context(), d, db.Value[int64], query, company)
			must(t, err)
			got = append(got, leaves...)
		}
		for i := range int64(4*payouts + 3) {
			want = append(want, i+2)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d numbers are %v", len(got), got)
		}
	})
}

// signAll signs all rows of a company, and returns their number.
func signAll(b testing.TB, d *db.DB, company string) (signed int) {
	b.Helper()
	book, count := ledger.New(d, clock.System{}), func(n int) { signed += n }
	must(b, book.Adopt(b.Context(), company, count))
	must(b, book.AdoptRights(b.Context(), company, count))
	return signed
}

// paidOften creates a company with one credit and n payouts. It writes all rows that the program
// would write for them.
func paidOften(b testing.TB, d *db.DB, company string, n int64) {
	b.Helper()
	const rows = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT)), r AS (
		SELECT i, '00000000-0000-7000-8000-' || substr(CAST(1000000000000 + i AS TEXT), 2, 12) AS id, CAST($3 AS BIGINT) + i AS at FROM n) `
	const ends = `"account_name":"ADA SAMPLE","account_number":"0123456789","bank_code":"000014","narration":null,"createdAt":"2030-01-02T03:04:05.000Z",` +
		`"bank_name":"A bank","sessionId":null,"failureReason":null,"refunded":false,"settlementId":1,"completedAt":null}`
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC).UnixMicro()
	ctx := db.WithLongTimeout(b.Context())
	for _, statement := range []string{
		rows + `INSERT INTO payout_verification SELECT $1, id, 1, 'bank', '000014', 'A bank', '0123456789', 'ADA SAMPLE', '', at, 0 FROM r`,
		rows + `INSERT INTO payout (company_id, id, narration, session, created_at) SELECT $1, id, '', '', at FROM r`,
		rows + `INSERT INTO operation SELECT $1, id, 'payout', id, 'SUCCESS', 'bank', 1, 1000, 0, at, 0, 0, 0, 0, 'confirmed', '00', '', '', '', at, at, '', 0 FROM r`,
		rows + `INSERT INTO ledger_transfer SELECT $1, id, '', 'settlement/1', 'clearing/payout', 1000, 'payout', '', i + 1, 2 * i - 1, 0, at, 0, '' FROM r`,
		rows + `INSERT INTO ledger_transfer SELECT $1, id, 'settle', 'clearing/payout', 'provider/bank', 1000, 'payout', '', 2 * i, i + 1, 0, at, 0, '' FROM r`,
		rows + `INSERT INTO ledger_entry SELECT $1, 'settlement/1', i + 1, id, '', -1000, CAST($2 AS BIGINT) * 1000 - (i - 1) * 1000, CAST($2 AS BIGINT) * 1000 - i * 1000, at FROM r`,
		rows + `INSERT INTO ledger_entry SELECT $1, 'clearing/payout', 2 * i - 1, id, '', 1000, 0, 1000, at FROM r`,
		rows + `INSERT INTO ledger_entry SELECT $1, 'clearing/payout', 2 * i, id, 'settle', -1000, 1000, 0, at FROM r`,
		rows + `INSERT INTO ledger_entry SELECT $1, 'provider/bank', i + 1, id, 'settle', 1000, (i - 1) * 1000 - CAST($2 AS BIGINT) * 1000, i * 1000 - CAST($2 AS BIGINT) * 1000, at FROM r`,
		rows + `INSERT INTO event SELECT $1, 2 * i, 'p' || id, 'payout.pending', '{"reference":"' || id || '","amount":10,"fee":0,"status":"PENDING",` + ends + `', at, 0, '' FROM r`,
		rows + `INSERT INTO event SELECT $1, 2 * i + 1, 's' || id, 'payout.success', '{"reference":"' || id || '","amount":10,"fee":0,"status":"SUCCESS",` + ends + `', at, 0, '' FROM r`,
	} {
		_, err := d.Exec(ctx, statement, company, n, at)
		must(b, err)
	}
	const one = `WITH r AS (SELECT $1 AS company, CAST($2 AS BIGINT) AS n, CAST($3 AS BIGINT) AS at) `
	for _, statement := range []string{
		one + `INSERT INTO ledger_head SELECT company, 2 * n + 1, at, 0, '' FROM r`,
		one + `INSERT INTO ledger_account (company_id, id, floor_kobo, alert_kobo, balance_kobo, entry_sequence, created_at)
			SELECT company, 'settlement/1', 0, 0, 0, n + 1, at FROM r UNION ALL SELECT company, 'clearing/payout', 0, 0, 0, 2 * n, at FROM r
			UNION ALL SELECT company, 'provider/bank', -9223372036854775807 - 1, 0, 0, n + 1, at FROM r`,
		one + `INSERT INTO settlement_account SELECT company, 1, 'Main', 'ACTIVE', at FROM r`,
		one + `INSERT INTO operator_audit SELECT company, 'a', 'local:ada', 'settlement.create', 'settlement/1', '{}', at, 0, '' FROM r`,
		one + `INSERT INTO settlement_session SELECT 'bank', 's', company FROM r`,
		one + `INSERT INTO settlement_credit SELECT company, 'c', 's', 'bank', '0', 1, n * 1000, '', '', '', '', '', at, at FROM r`,
		one + `INSERT INTO ledger_transfer SELECT company, 'c', '', 'provider/bank', 'settlement/1', n * 1000, 'credit', '', 1, 1, 0, at, 0, '' FROM r`,
		one + `INSERT INTO ledger_entry SELECT company, 'provider/bank', 1, 'c', '', -n * 1000, 0, -n * 1000, at FROM r
			UNION ALL SELECT company, 'settlement/1', 1, 'c', '', n * 1000, 0, n * 1000, at FROM r`,
		one + `INSERT INTO event SELECT company, 1, 'c', 'settlement.credit',
			'{"id":"c","settlementId":1,"amount":' || CAST(n * 10 AS TEXT) || ',"accountNumber":"0","sessionId":"s"}', at, 0, '' FROM r`,
		one + `INSERT INTO ledger_counter (company_id, name, value) SELECT company, 'payout/2030-01-02/amount', n * 1000 FROM r UNION ALL SELECT company, 'payout/2030-01-02/count', n FROM r
			UNION ALL SELECT company, 'payout/2030-01-02/settlement/1/amount', n * 1000 FROM r UNION ALL SELECT company, 'payout/2030-01-02/settlement/1/count', n FROM r`,
	} {
		_, err := d.Exec(ctx, statement, company, n, at)
		must(b, err)
	}
	_, err := d.Exec(ctx, `ANALYZE`)
	must(b, err)
}
