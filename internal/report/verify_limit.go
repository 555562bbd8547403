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

// limitCounters adds up the payouts of each day, without the payouts that were refunded. It
// compares the sums with the stored counters of the daily limits. The memory that it needs grows
// with the number of days and settlement accounts, not with the number of payouts.
func limitCounters(ctx context.Context, q db.Querier, company string) ([]Finding, error) {
	// A day is the number of days since 1970. Lagos is one hour ahead of UTC all year, so a
	// division gives the day.
	type dayPaid struct{ day, settlementID, amount, count int64 }
	paid, err := db.All(ctx, q, db.Fields[dayPaid], `
		SELECT day, settlement_id, CAST(sum(amount_kobo) AS BIGINT), count(*) FROM (
			SELECT (created_at + 3600000000) / 86400000000 AS day, settlement_id, amount_kobo FROM operation
			WHERE company_id = $1 AND kind = 'payout' AND state IN ('PENDING', 'SUCCESS')
		) AS paid GROUP BY day, settlement_id`, company)
	if err != nil {
		return nil, err
	}
	expected := map[string]int64{}
	for _, p := range paid {
		day := "payout/" + clock.Time(p.day*86_400_000_000).Format(time.DateOnly)
		account := fmt.Sprintf("%s/settlement/%d", day, p.settlementID)
		for _, name := range []string{day, account} {
			expected[name+"/amount"] += p.amount
			expected[name+"/count"] += p.count
		}
	}
	counted, err := db.Map[string, int64](ctx, q,
		`SELECT name, value FROM ledger_counter WHERE company_id = $1 AND substr(name, 1, 7) = 'payout/'`, company)
	if err != nil {
		return nil, err
	}
	var out []Finding
	compare := func(name string, expected, found int64) {
		if expected != found {
			out = append(out, Finding{Company: company, Check: "limit counter", ID: name, Expected: fmt.Sprint(expected), Found: fmt.Sprint(found)})
		}
	}
	for name, n := range counted {
		compare(name, expected[name], n)
		delete(expected, name)
	}
	for name, n := range expected {
		compare(name, n, 0)
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(len(out), most)], nil
}
