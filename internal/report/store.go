package report

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// outcomeColumns are an operation's columns, and 1 if it has an open case.
const outcomeColumns = `SELECT ` + operation.Columns + `,
	CASE WHEN EXISTS (SELECT 1 FROM operation_case AS c
		WHERE c.company_id = operation.company_id AND c.subject = operation.id AND c.state = 'OPEN')
	THEN 1 ELSE 0 END FROM operation `

func scanOutcome(s db.Scanner) (Outcome, error) {
	var o operation.Operation
	var open int64
	err := s.Scan(append(o.Targets(), &open)...)
	last := o.Outcome
	if o.Code != "" {
		last += " (" + o.Code + ")"
	}
	return Outcome{
		Reference: o.ID, Type: o.Kind, Status: string(o.State), Amount: o.Amount, Attempts: int(o.Polls),
		LastAnswer: last, LastAskedAt: o.AskedAt, NextTryAt: o.NextAt, NeedsDecision: open == 1,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}, err
}

func findOutcome(ctx context.Context, q db.Querier, company, reference string) (Outcome, error) {
	return db.One(ctx, q, scanOutcome,
		outcomeColumns+`WHERE operation.company_id = $1 AND operation.id = $2`, company, reference)
}

func pending(ctx context.Context, q db.Querier, company string, offset, limit int) ([]Outcome, error) {
	return db.All(ctx, q, scanOutcome, outcomeColumns+`
		WHERE operation.company_id = $1 AND operation.state = 'PENDING'
		ORDER BY operation.created_at DESC, operation.id DESC LIMIT $2 OFFSET $3`, company, limit, offset)
}

func pendingCount(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64],
		`SELECT count(*) FROM operation WHERE company_id = $1 AND state = 'PENDING'`, company)
}

// openOperations are the number of PENDING operations and their money in clearing.
func openOperations(ctx context.Context, q db.Querier, company string) (int64, money.Kobo, error) {
	type sum struct {
		count int64
		money money.Kobo
	}
	s, err := db.One(ctx, q, db.Fields[sum], `SELECT count(*), CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT)
		FROM operation WHERE company_id = $1 AND state = 'PENDING'`, company)
	return s.count, s.money, err
}

// eventCount is the number of events and the sequence number of the last one.
func eventCount(ctx context.Context, q db.Querier, company string) (events, last int64, err error) {
	type count struct{ events, last int64 }
	c, err := db.One(ctx, q, db.Fields[count], `SELECT count(*), coalesce(max(sequence), 0) FROM event WHERE company_id = $1`, company)
	return c.events, c.last, err
}

// heads are all companies with a ledger and their last event, ordered by company.
func heads(ctx context.Context, q db.Querier) ([]Head, error) {
	return db.All(ctx, q, db.Fields[Head], `SELECT company_id, event_sequence FROM ledger_head ORDER BY company_id`)
}

// companies are all companies with a row in the database, in order.
func companies(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `
		SELECT company_id FROM ledger_head UNION SELECT company_id FROM company
		UNION SELECT company_id FROM ledger_account UNION SELECT company_id FROM settlement_account
		UNION SELECT company_id FROM operation_case ORDER BY company_id`)
}

// purchaseFrom takes the values of a filter. An empty text or a 0 filters nothing.
const purchaseFrom = ` FROM vtu_purchase AS p JOIN operation
	ON operation.company_id = p.company_id AND operation.id = p.id
	WHERE p.company_id = $1
		AND (p.kind = $2 OR $2 = '')
		AND (operation.state = $3 OR $3 = '')
		AND (operation.settlement_id = $4 OR $4 = 0)
		AND (operation.created_at >= $5 OR $5 = 0)
		AND (operation.created_at < $6 OR $6 = 0)`

func purchaseCount(ctx context.Context, q db.Querier, args []any) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(p.id)`+purchaseFrom, args...)
}

func purchases(ctx context.Context, q db.Querier, args []any) ([]vtu.Transaction, error) {
	return db.All(ctx, q, func(sc db.Scanner) (vtu.Transaction, error) {
		var o operation.Operation
		var p vtu.Purchase
		err := sc.Scan(append(o.Targets(), p.Targets()...)...)
		return vtu.Of(o, p), err
	}, `SELECT `+operation.Columns+`, `+vtu.PurchaseColumns+
		purchaseFrom+` ORDER BY p.created_at DESC, p.id DESC LIMIT $7 OFFSET $8`, args...)
}

func (i *Integrity) wrong(format string, args ...any) {
	i.Wrongs = append(i.Wrongs, i.Company+": "+fmt.Sprintf(format, args...))
}
