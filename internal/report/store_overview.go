package report

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

func scanSum(sc db.Scanner) (s Sum, err error) {
	var oldest int64
	err = sc.Scan(&s.Count, &s.Amount, &oldest)
	s.Oldest = clock.Time(oldest)
	return s, err
}

func scanNamed(sc db.Scanner) (n Named, err error) {
	var oldest int64
	err = sc.Scan(&n.Name, &n.Count, &n.Amount, &oldest)
	n.Oldest = clock.Time(oldest)
	return n, err
}

// casesByReason returns the open cases by reason, with the sum of the amounts that they are about: the difference that a bank has,
// or else the payment with its fee.
func casesByReason(ctx context.Context, q db.Querier) ([]Named, error) {
	return db.All(ctx, q, scanNamed, `SELECT c.reason, count(*),
		CAST(sum(CASE WHEN c.amount_kobo <> 0 THEN abs(c.amount_kobo) ELSE coalesce(o.amount_kobo + o.fee_kobo, 0) END) AS BIGINT), min(c.created_at)
		FROM operation_case AS c LEFT JOIN operation AS o ON o.company_id = c.company_id AND o.id = c.subject
		WHERE c.state = 'OPEN' GROUP BY c.reason ORDER BY c.reason`)
}

func openProposals(ctx context.Context, q db.Querier, now time.Time) (Sum, error) {
	return db.One(ctx, q, scanSum, `SELECT count(*), 0, coalesce(min(created_at), 0) FROM operator_proposal WHERE state = 'PROPOSED' AND expires_at > $1`,
		clock.Micros(now))
}

func pendingAdjustments(ctx context.Context, q db.Querier) (Sum, error) {
	return db.One(ctx, q, scanSum, `SELECT count(*), CAST(coalesce(sum(amount_kobo), 0) AS BIGINT), coalesce(min(created_at), 0)
		FROM settlement_adjustment WHERE state = 'PENDING'`)
}

func failingEndpoints(ctx context.Context, q db.Querier) ([]FailingEndpoint, error) {
	return db.All(ctx, q, func(sc db.Scanner) (e FailingEndpoint, err error) {
		var since int64
		err = sc.Scan(&e.Company, &e.Name, &e.ID, &e.Failures, &since)
		e.Since = clock.Time(since)
		return e, err
	}, `SELECT e.company_id, c.name, e.id, e.failures, e.failed_at FROM webhook_endpoint AS e JOIN company AS c ON c.company_id = e.company_id
		WHERE e.state = 'FAILING' ORDER BY e.failed_at LIMIT $1`, mostEndpoints)
}

func failingSum(ctx context.Context, q db.Querier) (Sum, error) {
	return db.One(ctx, q, scanSum, `SELECT count(*), 0, coalesce(min(created_at), 0) FROM (
		SELECT created_at FROM job WHERE last_error <> '' ORDER BY id LIMIT $1) AS failing`, mostFailing)
}

// openRow has the PENDING operations at a provider of one class of ages. The field age is an index of
// ClearingAges, and unknown is 1 if their first call has ended without an outcome and they have no open case.
type openRow struct {
	provider string
	unknown  int64
	age      int64
	Sum
}

// openByAge returns the PENDING operations. Such an operation has a job in one of the queues or an open case.
func openByAge(ctx context.Context, q db.Querier, queues []string, now time.Time) ([]openRow, error) {
	ago := func(age time.Duration) int64 { return clock.Micros(now.Add(-age)) }
	return db.All(ctx, q, func(sc db.Scanner) (r openRow, err error) {
		var oldest int64
		err = sc.Scan(&r.provider, &r.unknown, &r.age, &r.Count, &r.Amount, &oldest)
		r.Oldest = clock.Time(oldest)
		return r, err
	}, `
		SELECT provider, unknown, age, count(*), CAST(sum(kobo) AS BIGINT), min(created_at) FROM (
			SELECT o.provider AS provider, o.amount_kobo + o.fee_kobo AS kobo, o.created_at AS created_at,
				CASE WHEN (o.outcome <> '' OR o.called_until <= $2) AND NOT EXISTS (SELECT 1 FROM operation_case AS c
					WHERE c.company_id = o.company_id AND c.subject = o.id AND c.state = 'OPEN') THEN 1 ELSE 0 END AS unknown,
				CASE WHEN o.created_at > $3 THEN 0 WHEN o.created_at > $4 THEN 1 WHEN o.created_at > $5 THEN 2 WHEN o.created_at > $6 THEN 3 ELSE 4 END AS age
			FROM (
				SELECT company_id, subject FROM job WHERE kind || '/' || provider = ANY($1)
				UNION SELECT company_id, subject FROM operation_case WHERE `+isOpenCase+`
			) AS open JOIN operation AS o ON o.company_id = open.company_id AND o.id = open.subject
			WHERE o.state = 'PENDING'
		) AS pending GROUP BY provider, unknown, age ORDER BY provider, unknown, age`,
		queues, clock.Micros(now), ago(time.Minute), ago(10*time.Minute), ago(2*time.Hour), ago(overdue))
}

// settlementAccounts is the name under which accountSums adds up the companies' settlement accounts.
const settlementAccounts = "settlement/"

// accountSum is the sum of the balances of the ledger accounts with one name, over all companies.
type accountSum struct {
	name   string
	count  int64
	amount money.Kobo
}

// accountSums adds up the balances of all companies by the names of their accounts. CROSS JOIN makes SQLite
// begin with the companies, and find their accounts by key.
func accountSums(ctx context.Context, q db.Querier) ([]accountSum, error) {
	return db.All(ctx, q, db.Fields[accountSum], `
		SELECT CASE WHEN substr(a.id, 1, 11) = 'settlement/' THEN 'settlement/' ELSE a.id END, count(*), CAST(sum(a.balance_kobo) AS BIGINT)
		FROM ledger_head AS h CROSS JOIN ledger_account AS a WHERE a.company_id = h.company_id
		GROUP BY CASE WHEN substr(a.id, 1, 11) = 'settlement/' THEN 'settlement/' ELSE a.id END`)
}

// companyCount returns the number of companies with a ledger, without the house.
func companyCount(ctx context.Context, q db.Querier) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM ledger_head WHERE company_id <> 'house'`)
}

// ofKind returns those of the job queues that have jobs of a kind.
func ofKind(queues []string, kind string) []string {
	return slices.DeleteFunc(slices.Clone(queues), func(queue string) bool { return !strings.HasPrefix(queue, kind+"/") })
}

func sortedNames(of map[string]total) []string { return slices.Sorted(maps.Keys(of)) }
