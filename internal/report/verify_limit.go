package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// limitCounters adds up the payouts of each day that were not given back, and compares
// the sums with the counters of the daily limits. Its memory grows with the days and
// settlement accounts, not with the payouts.
func limitCounters(ctx context.Context, q db.Querier, company string) ([]Finding, error) {
	paid, err := paidByDay(ctx, q, company)
	if err != nil {
		return nil, err
	}
	expected := map[string]int64{}
	for _, p := range paid {
		day := "payout/" + clock.Time(p.day*dayMicros).Format(time.DateOnly)
		account := fmt.Sprintf("%s/settlement/%d", day, p.settlementID)
		for _, name := range []string{day, account} {
			expected[name+"/amount"] += p.amount
			expected[name+"/count"] += p.count
		}
	}
	counted, err := payoutCounters(ctx, q, company)
	if err != nil {
		return nil, err
	}
	var out []Finding
	for name, n := range counted {
		if n != expected[name] {
			out = append(out, counterFinding(company, name, expected[name], n))
		}
		delete(expected, name)
	}
	for name, n := range expected {
		if n != 0 {
			out = append(out, counterFinding(company, name, n, 0))
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), most)], nil
}

func counterFinding(company, name string, expected, found int64) Finding {
	return Finding{Company: company, Check: "limit counter", ID: name, Expected: fmt.Sprint(expected), Found: fmt.Sprint(found)}
}

// dayPaid are the payouts of one settlement account on one day in Lagos, counted from
// 1970.
type dayPaid struct {
	day, settlementID, amount, count int64
}

// paidByDay adds up the payouts that were not given back. Lagos is one hour ahead of UTC
// all year, so a division gives the day.
func paidByDay(ctx context.Context, q db.Querier, company string) ([]dayPaid, error) {
	return db.All(ctx, q, db.Fields[dayPaid], `
		SELECT day, settlement_id, CAST(sum(amount_kobo) AS BIGINT), count(*) FROM (
			SELECT (created_at + 3600000000) / 86400000000 AS day, settlement_id, amount_kobo FROM operation
			WHERE company_id = $1 AND kind = 'payout' AND state IN ('PENDING', 'SUCCESS')
		) AS paid GROUP BY day, settlement_id`, company)
}

const dayMicros = 86_400_000_000

// payoutCounters are the counters of the daily limits, by name.
func payoutCounters(ctx context.Context, q db.Querier, company string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, q,
		`SELECT name, value FROM ledger_counter WHERE company_id = $1 AND substr(name, 1, 7) = 'payout/'`, company)
}
