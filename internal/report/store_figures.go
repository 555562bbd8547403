package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	trees "github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// namedTotal is a total with a name, as the SQL queries of the metrics return it.
type namedTotal struct {
	name string
	total
}

func totals(ctx context.Context, q db.Querier, query string, args ...any) (map[string]total, error) {
	rows, err := db.All(ctx, q, db.Fields[namedTotal], query, args...)
	out := map[string]total{}
	for _, r := range rows {
		out[r.name] = r.total
	}
	return out, err
}

// openCases returns the open cases of all companies by reason.
func openCases(ctx context.Context, q db.Querier) (map[string]total, error) {
	return totals(ctx, q, `SELECT reason, count(*), 0, min(created_at) FROM operation_case WHERE state = 'OPEN' GROUP BY reason`)
}

// lanes is SQL that finds the names of all job queues in an index. It reads one row for each queue.
const lanes = `
	WITH RECURSIVE lane (name) AS (
		SELECT (SELECT kind || '/' || provider FROM job ORDER BY kind || '/' || provider LIMIT 1)
		UNION ALL
		SELECT (
			SELECT kind || '/' || provider FROM job WHERE kind || '/' || provider > lane.name
			ORDER BY kind || '/' || provider LIMIT 1
		) FROM lane WHERE lane.name IS NOT NULL
	) `

// allQueues returns the names of all job queues. A routed database refuses the SQL of lanes, and reads all jobs.
func allQueues(ctx context.Context, q db.Querier, routed bool) ([]string, error) {
	if routed {
		return db.All(ctx, q, db.Value[string], `SELECT DISTINCT kind || '/' || provider AS name FROM job`)
	}
	return db.All(ctx, q, db.Value[string], lanes+`SELECT lane.name FROM lane WHERE lane.name IS NOT NULL`)
}

// dueJobs returns the due jobs without a lease by queue. It counts at most 10,000 of a queue.
func dueJobs(ctx context.Context, q db.Querier, routed bool, now time.Time) (map[string]total, error) {
	if routed {
		return totals(ctx, q, `SELECT kind || '/' || provider AS name, count(*) FILTER (WHERE run_at <= $1 AND lease_until <= $1), 0,
			coalesce(min(run_at) FILTER (WHERE run_at <= $1 AND lease_until <= $1), 0) FROM job GROUP BY kind || '/' || provider`, clock.Micros(now))
	}
	return totals(ctx, q, lanes+`
		SELECT lane.name, (
			SELECT count(*) FROM (
				SELECT id FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $1
				ORDER BY run_at LIMIT 10000
			) AS due
		), 0, coalesce((
			SELECT run_at FROM job WHERE kind || '/' || provider = lane.name AND run_at <= $1 AND lease_until <= $1
			ORDER BY run_at LIMIT 1
		), 0) FROM lane WHERE lane.name IS NOT NULL`, clock.Micros(now))
}

// waitingJobs returns all jobs of some queues by provider.
func waitingJobs(ctx context.Context, q db.Querier, queues []string) (map[string]total, error) {
	return totals(ctx, q, `SELECT provider, count(*), 0, min(created_at) FROM job
		WHERE kind || '/' || provider = ANY($1) GROUP BY provider`, queues)
}

// moneyInFlight returns the balances of some ledger accounts of all companies, and the PENDING
// operations by kind. A PENDING operation has a job in one of the queues or an open case. CROSS JOIN
// makes SQLite begin with the companies, and find their accounts by key.
func moneyInFlight(ctx context.Context, q db.Querier, queues, accounts []string) (held, pending map[string]total, err error) {
	type row struct {
		pending int64
		namedTotal
	}
	rows, err := db.All(ctx, q, db.Fields[row], `
		SELECT 0, a.id, count(*), CAST(sum(a.balance_kobo) AS BIGINT), 0 FROM ledger_head AS h
		CROSS JOIN ledger_account AS a WHERE a.company_id = h.company_id AND a.id = ANY($2) GROUP BY a.id
		UNION ALL
		SELECT 1, o.kind, count(*), CAST(sum(o.amount_kobo + o.fee_kobo) AS BIGINT), min(o.created_at) FROM (
			SELECT company_id, subject FROM job WHERE kind || '/' || provider = ANY($1)
			UNION SELECT company_id, subject FROM operation_case WHERE `+isOpenCase+`
		) AS open JOIN operation AS o ON o.company_id = open.company_id AND o.id = open.subject
		WHERE o.state = 'PENDING' GROUP BY o.kind`, queues, accounts)
	held, pending = map[string]total{}, map[string]total{}
	for _, r := range rows {
		if r.pending == 1 {
			pending[r.name] = r.total
		} else {
			held[r.name] = r.total
		}
	}
	return held, pending, err
}

// lastPolls returns when the credit poll of each bank last left no account due. Before that it returns
// the time from which the poll reads.
func lastPolls(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	return instants(ctx, q, `SELECT provider, CASE WHEN finished_at > 0 THEN finished_at ELSE done_until END
		FROM inbox_sweep WHERE company_id = $1`, settlement.House)
}

// oldestPolls returns, for each bank, when the credit poll last read the account that has waited the
// longest. The poll of a bank without accounts has read nothing since it began.
func oldestPolls(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	return instants(ctx, q, `SELECT s.provider, coalesce((
			SELECT min(a.polled_at) FROM inbox_account AS a WHERE a.company_id = s.company_id AND a.provider = s.provider AND a.retired_at = 0), s.done_until)
		FROM inbox_sweep AS s WHERE s.company_id = $1`, settlement.House)
}

// accountsIn is how many accounts of a bank the credit poll reads, fails to read, and no longer reads, and
// how many accounts of ours the bank does not list.
type accountsIn struct{ read, failing, retired, unlisted int64 }

// polledAccounts returns the number of accounts in the credit poll of each bank.
func polledAccounts(ctx context.Context, q db.Querier) (map[string]accountsIn, error) {
	out := map[string]accountsIn{}
	_, err := db.All(ctx, q, func(row db.Scanner) (bank string, err error) {
		var n accountsIn
		err = row.Scan(&bank, &n.unlisted, &n.read, &n.failing, &n.retired)
		out[bank] = n
		return bank, err
	}, `SELECT s.provider, s.unlisted,
			count(CASE WHEN a.retired_at = 0 AND a.failures = 0 THEN 1 END),
			count(CASE WHEN a.retired_at = 0 AND a.failures > 0 THEN 1 END), count(CASE WHEN a.retired_at > 0 THEN 1 END)
		FROM inbox_sweep AS s LEFT JOIN inbox_account AS a ON a.company_id = s.company_id AND a.provider = s.provider
		WHERE s.company_id = $1 GROUP BY s.provider, s.unlisted`, settlement.House)
	return out, err
}

// lastReconciliations returns when the statement of each bank was last compared with the ledger, or when
// the first comparison was planned.
func lastReconciliations(ctx context.Context, q db.Querier) (map[string]time.Time, error) {
	return instants(ctx, q, `SELECT provider, done_at FROM report_reconciliation WHERE company_id = $1`, settlement.House)
}

func instants(ctx context.Context, q db.Querier, query string, args ...any) (map[string]time.Time, error) {
	micros, err := db.Map[string, int64](ctx, q, query, args...)
	out := map[string]time.Time{}
	for name, at := range micros {
		out[name] = clock.Time(at)
	}
	return out, err
}

// AwaitReconciliation stores that the statement of a bank has to be compared from now on, unless it was
// compared already.
func (s *Service) AwaitReconciliation(ctx context.Context, bank string) error {
	_, err := s.db.Exec(ctx, `INSERT INTO report_reconciliation (company_id, provider, done_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		settlement.House, bank, clock.Micros(s.clock.Now()))
	return err
}

// ComparedAt returns when the statement of a bank was last compared, or since when it has to be. It is zero if nobody has asked for it.
// A time in the future is that of a clock that was ahead. Then ComparedAt returns the time of the newest comparison before now that
// succeeded, or 1970 if there is none.
func (s *Service) ComparedAt(ctx context.Context, bank string) (time.Time, error) {
	at, err := db.OrZero(db.One(ctx, s.db, db.Value[int64], `SELECT done_at FROM report_reconciliation WHERE company_id = $1 AND provider = $2`, settlement.House, bank))
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	if now := s.clock.Now(); at > clock.Micros(now.Add(time.Minute)) {
		at, err = db.OrZero(db.One(ctx, s.db, db.Value[int64], `SELECT created_at FROM report_run
			WHERE company_id = $1 AND provider = $2 AND trouble = '' AND created_at <= $3 ORDER BY id DESC LIMIT 1`, settlement.House, bank, clock.Micros(now)))
		return time.UnixMicro(at).UTC(), err
	}
	return clock.Time(at), nil
}

// walkFindingsOf returns the findings of the last walk as JSON, of each company that has some.
func walkFindingsOf(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT wrongs FROM report_progress WHERE substr(wrongs, 1, 2) = '["'`)
}

// mostReveals returns the highest number of reveals of one operator since an instant.
func mostReveals(ctx context.Context, q db.Querier, since time.Time) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT coalesce(max(n), 0) FROM (
		SELECT count(*) AS n FROM operator_audit WHERE action IN ('customer.reveal', 'beneficiary.reveal') AND created_at >= $1 GROUP BY operator) AS reveals`, clock.Micros(since))
}

// closedAccounts returns the number of accounts that are closed to debits.
func closedAccounts(ctx context.Context, q db.Querier) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM ledger_account WHERE closed_at <> 0`)
}

// unsignedSince returns the instant of the deployment's newest checkpoint, or the instant at which the
// first company was created if there is no checkpoint. It returns the zero instant if no company has rows
// above its own last checkpoint. The event about that checkpoint alone does not count.
func unsignedSince(ctx context.Context, q db.Querier) (time.Time, error) {
	at, err := db.One(ctx, q, db.Value[int64], `SELECT CASE WHEN EXISTS (
			SELECT 1 FROM ledger_head AS h LEFT JOIN evidence_tree AS t ON t.company_id = h.company_id WHERE h.leaf > coalesce(t.size + 1, 0))
		THEN coalesce((SELECT created_at FROM evidence_checkpoint WHERE company_id = $1 ORDER BY size DESC LIMIT 1), (SELECT min(created_at) FROM company), 0)
		ELSE 0 END`, trees.Deployment)
	return clock.Time(at), err
}
