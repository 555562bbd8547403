package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// revenueWaits returns the accounts of fees and charges that have entries which are not in the sums, above an
// account. CROSS JOIN makes SQLite begin with the companies, and find their accounts by key.
func revenueWaits(ctx context.Context, q db.Querier, company, account string, most int) ([]ledgerPlace, error) {
	return db.All(ctx, q, db.Fields[ledgerPlace], `
		SELECT a.company_id, a.id, a.entry_sequence, coalesce(p.sequence, 0) FROM ledger_head AS h
		CROSS JOIN ledger_account AS a LEFT JOIN report_revenue_place AS p ON p.company_id = a.company_id AND p.account_id = a.id
		WHERE h.company_id >= $1 AND a.company_id = h.company_id AND (a.company_id > $1 OR a.id > $2)
			AND (a.id = $3 OR substr(a.id, 1, 7) = 'charge/') AND a.entry_sequence > coalesce(p.sequence, 0)
		ORDER BY a.company_id, a.id LIMIT $4`, company, account, settlement.FeeAccount, most)
}

// revenueOf adds up the entries of an account above its place, up to a number. The balance of an account of
// charges is below zero, so a charge is a debit.
func revenueOf(ctx context.Context, q db.Querier, p ledgerPlace, through int64) ([]RevenueLine, error) {
	fee := p.account == settlement.FeeAccount
	return db.All(ctx, q, func(sc db.Scanner) (l RevenueLine, err error) {
		var day, sum, n int64
		err = sc.Scan(&day, &l.Kind, &l.Provider, &sum, &n)
		l.Day = dayBegin(day)
		if fee {
			l.Fees, l.FeeCount = money.Kobo(sum), n
		} else {
			l.Cost, l.CostCount = money.Kobo(-sum), n
		}
		return l, err
	}, `SELECT (e.created_at + 3600000000) / 86400000000 AS day, coalesce(o.kind, '') AS kind,
			CASE WHEN e.account_id = $4 THEN coalesce(o.provider, '') ELSE substr(e.account_id, 8) END AS name,
			CAST(sum(e.amount_kobo) AS BIGINT), CAST(sum(CASE WHEN e.account_id = $4 AND e.amount_kobo < 0 THEN -1 ELSE 1 END) AS BIGINT)
		FROM ledger_entry AS e LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = e.reference
		WHERE e.company_id = $1 AND e.account_id = $2 AND e.sequence > $3 AND e.sequence <= $5
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, p.company, p.account, p.sequence, settlement.FeeAccount, through)
}

// moveRevenuePlace moves the place of an account. It returns false if the place is not where it was.
func moveRevenuePlace(ctx context.Context, q db.Querier, from ledgerPlace, through int64) (bool, error) {
	if _, err := q.Exec(ctx, `INSERT INTO report_revenue_place (company_id, account_id, sequence) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING`,
		from.company, from.account); err != nil {
		return false, err
	}
	n, err := q.Exec(ctx, `UPDATE report_revenue_place SET sequence = $4 WHERE company_id = $1 AND account_id = $2 AND sequence = $3`,
		from.company, from.account, from.sequence, through)
	return n == 1, err
}

// addRevenue adds a line to the sums of a company.
func addRevenue(ctx context.Context, q db.Querier, company string, l RevenueLine) error {
	_, err := q.Exec(ctx, `INSERT INTO report_revenue (company_id, day, kind, provider, fee_kobo, fees, cost_kobo, costs)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (company_id, day, kind, provider) DO UPDATE SET fee_kobo = report_revenue.fee_kobo + excluded.fee_kobo,
			fees = report_revenue.fees + excluded.fees, cost_kobo = report_revenue.cost_kobo + excluded.cost_kobo, costs = report_revenue.costs + excluded.costs`,
		company, dayNumber(l.Day), l.Kind, l.Provider, int64(l.Fees), l.FeeCount, int64(l.Cost), l.CostCount)
	return err
}

// addRevenueTotal adds a line to the sums of all companies.
func addRevenueTotal(ctx context.Context, q db.Querier, l RevenueLine) error {
	_, err := q.Exec(ctx, `INSERT INTO report_revenue_total (company_id, day, kind, provider, fee_kobo, fees, cost_kobo, costs)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (company_id, day, kind, provider) DO UPDATE SET fee_kobo = report_revenue_total.fee_kobo + excluded.fee_kobo,
			fees = report_revenue_total.fees + excluded.fees, cost_kobo = report_revenue_total.cost_kobo + excluded.cost_kobo,
			costs = report_revenue_total.costs + excluded.costs`,
		settlement.House, dayNumber(l.Day), l.Kind, l.Provider, int64(l.Fees), l.FeeCount, int64(l.Cost), l.CostCount)
	return err
}

// setRevenueRound stores when a round began that has ended.
func setRevenueRound(ctx context.Context, q db.Querier, began time.Time) error {
	_, err := q.Exec(ctx, `INSERT INTO report_revenue_round (company_id, began_at) VALUES ($1, $2)
		ON CONFLICT (company_id) DO UPDATE SET began_at = excluded.began_at`, settlement.House, clock.Micros(began))
	return err
}

// revenueRead returns when the last round began that has ended.
func revenueRead(ctx context.Context, q db.Querier) (time.Time, error) {
	at, err := db.One(ctx, q, db.Value[int64], `SELECT coalesce(max(began_at), 0) FROM report_revenue_round WHERE company_id = $1`, settlement.House)
	return clock.Time(at), err
}

func scanRevenue(sc db.Scanner) (l RevenueLine, err error) {
	var day int64
	err = sc.Scan(&day, &l.Kind, &l.Provider, &l.Fees, &l.FeeCount, &l.Cost, &l.CostCount)
	l.Day = dayBegin(day)
	return l, err
}

func companyRevenue(ctx context.Context, q db.Querier, company string, from, to int64) ([]RevenueLine, error) {
	return db.All(ctx, q, scanRevenue, `SELECT day, kind, provider, fee_kobo, fees, cost_kobo, costs FROM report_revenue
		WHERE company_id = $1 AND day >= $2 AND day < $3 ORDER BY day, kind, provider`, company, from, to)
}

func totalRevenue(ctx context.Context, q db.Querier, from, to int64) ([]RevenueLine, error) {
	return db.All(ctx, q, scanRevenue, `SELECT day, kind, provider, fee_kobo, fees, cost_kobo, costs FROM report_revenue_total
		WHERE company_id = $1 AND day >= $2 AND day < $3 ORDER BY day, kind, provider`, settlement.House, from, to)
}

// revenueByCompany returns the sums of the companies above one. It reads the sums in the order of their key, and stops
// when the page is full.
func revenueByCompany(ctx context.Context, q db.Querier, after string, from, to int64, most int) ([]CompanyRevenue, error) {
	return db.All(ctx, q, func(sc db.Scanner) (c CompanyRevenue, err error) {
		err = sc.Scan(&c.Company, &c.Name, &c.Fees, &c.FeeCount, &c.Cost, &c.CostCount)
		return c, err
	}, `SELECT r.company_id, coalesce(c.name, ''), r.fee_kobo, r.fees, r.cost_kobo, r.costs FROM (
			SELECT company_id, CAST(sum(fee_kobo) AS BIGINT) AS fee_kobo, CAST(sum(fees) AS BIGINT) AS fees,
				CAST(sum(cost_kobo) AS BIGINT) AS cost_kobo, CAST(sum(costs) AS BIGINT) AS costs
			FROM report_revenue WHERE company_id > $1 AND day >= $2 AND day < $3 GROUP BY company_id ORDER BY company_id LIMIT $4
		) AS r LEFT JOIN company AS c ON c.company_id = r.company_id ORDER BY r.company_id`, after, from, to, most)
}
