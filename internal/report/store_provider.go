package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// unknownRow has the unknown operations at a provider of one class of ages. The field age is an index
// of Ages, and hasCase is 1 if they have an open case.
type unknownRow struct {
	provider string
	age      int64
	hasCase  int64
	count    int64
	amount   money.Kobo
}

// unknownOperations returns the PENDING operations whose first call has ended without an outcome. Such
// an operation has a job in one of the queues or an open case.
func unknownOperations(ctx context.Context, q db.Querier, queues []string, now time.Time) ([]unknownRow, error) {
	ago := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
	return db.All(ctx, q, db.Fields[unknownRow], `
		SELECT provider, age, has_case, count(*), CAST(sum(kobo) AS BIGINT) FROM (
			SELECT o.provider AS provider, o.amount_kobo + o.fee_kobo AS kobo,
				CASE WHEN o.created_at > $3 THEN 0 WHEN o.created_at > $4 THEN 1 WHEN o.created_at > $5 THEN 2 ELSE 3 END AS age,
				CASE WHEN EXISTS (SELECT 1 FROM operation_case AS c WHERE c.company_id = o.company_id AND c.subject = o.id AND c.state = 'OPEN') THEN 1 ELSE 0 END AS has_case
			FROM (
				SELECT company_id, subject FROM job WHERE kind || '/' || provider = ANY($1)
				UNION SELECT company_id, subject FROM operation_case WHERE `+isOpenCase+`
			) AS open JOIN operation AS o ON o.company_id = open.company_id AND o.id = open.subject
			WHERE o.state = 'PENDING' AND (o.outcome <> '' OR o.called_until <= $2)
		) AS unknown GROUP BY provider, age, has_case`,
		queues, clock.Micros(now), ago(5*time.Minute), ago(time.Hour), ago(24*time.Hour))
}

// heldIn returns the balances of some ledger accounts, as sums over all companies. CROSS JOIN makes
// SQLite begin with the companies, and find their accounts by key.
func heldIn(ctx context.Context, q db.Querier, accounts []string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, q, `
		SELECT a.id, CAST(sum(a.balance_kobo) AS BIGINT) FROM ledger_head AS h
		CROSS JOIN ledger_account AS a WHERE a.company_id = h.company_id AND a.id = ANY($1) GROUP BY a.id`, accounts)
}

// lastChainReads returns when any program last read each custodian of crypto. Before the first read
// that succeeded, it returns the time of the first attempt. The check of balances has cursors of its
// own, which are left out.
func lastChainReads(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	return instants(ctx, q, `SELECT custody, updated_at FROM crypto_cursor WHERE substr(custody, 1, 9) <> 'balances:'`)
}

// newestRetired returns the accounts of a bank that the credit poll does not read any more, the newest first.
func newestRetired(ctx context.Context, q db.Querier, bank string, limit int) ([]RetiredAccount, error) {
	return db.All(ctx, q, func(r db.Scanner) (a RetiredAccount, err error) {
		var at int64
		err = r.Scan(&a.Account, &at)
		a.At = clock.Time(at)
		return a, err
	}, `SELECT account, retired_at FROM inbox_account
		WHERE company_id = $1 AND provider = $2 AND retired_at > 0 ORDER BY retired_at DESC, account LIMIT $3`, settlement.House, bank, limit)
}
