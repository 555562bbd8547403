package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// What follows goes over all companies: they share one account at the bank.

// payments are the operations of a provider since an instant, and those of these
// ids however old.
func payments(ctx context.Context, q db.Querier, bank string, from time.Time, ids []string) ([]Payment, error) {
	return db.All(ctx, q, func(sc db.Scanner) (Payment, error) {
		var p Payment
		targets, scanned := p.Targets()
		err := sc.Scan(append(targets, &p.Booked)...)
		scanned()
		return p, err
	}, `SELECT `+operation.Columns+`, (
			SELECT CAST(coalesce(sum(CASE WHEN t.credit_account = $4 THEN t.amount_kobo ELSE -t.amount_kobo END), 0) AS BIGINT)
			FROM ledger_transfer AS t
			WHERE t.company_id = operation.company_id AND t.reference = operation.id AND t.reference <> ''
				AND (t.credit_account = $4 OR t.debit_account = $4))
		FROM operation
		WHERE operation.provider = $1
			AND (operation.created_at >= $2 OR operation.updated_at >= $2 OR operation.id = ANY($3))
		ORDER BY operation.company_id, operation.id`,
		bank, clock.Micros(from), ids, settlement.ProviderAccount(bank))
}

// receipts are the credits of a bank since an instant, and those of these
// sessions however old.
func receipts(ctx context.Context, q db.Querier, bank string, from time.Time, sessions []string) ([]Receipt, error) {
	return db.All(ctx, q, func(sc db.Scanner) (Receipt, error) {
		var r Receipt
		var at, settled int64
		err := sc.Scan(&r.Company, &r.Session, &r.Amount, &at, &r.Booked, &settled)
		r.At, r.Settled = clock.Time(at), clock.Time(settled)
		return r, err
	}, `SELECT c.company_id, c.session_id, c.amount_kobo, c.told_at,
			CAST(coalesce(sum(CASE WHEN t.debit_account = $4 THEN t.amount_kobo WHEN t.credit_account = $4 THEN -t.amount_kobo ELSE 0 END), 0) AS BIGINT),
			coalesce(max(t.created_at), c.created_at)
		FROM settlement_credit AS c
		LEFT JOIN ledger_transfer AS t ON t.company_id = c.company_id AND t.reference = c.id
		WHERE c.provider = $1 AND (c.created_at >= $2 OR c.session_id = ANY($3))
		GROUP BY c.company_id, c.id, c.session_id, c.amount_kobo, c.told_at, c.created_at
		ORDER BY c.company_id, c.id`,
		bank, clock.Micros(from), sessions, settlement.ProviderAccount(bank))
}

// pendingSince are the open operations that are older than an instant, by their
// clearing accounts.
func pendingSince(ctx context.Context, q db.Querier, before time.Time) ([]operation.Operation, error) {
	return db.All(ctx, q, operation.Scan, `SELECT `+operation.Columns+` FROM operation
		WHERE operation.state = 'PENDING' AND operation.created_at < $1
		ORDER BY operation.company_id, operation.kind, operation.id`, clock.Micros(before))
}
