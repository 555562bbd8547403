package report

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// outcomeColumns tell for an operation whether a case of it is open.
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

// openOperations are how many are PENDING and what they hold in clearing.
func openOperations(ctx context.Context, q db.Querier, company string) (int64, money.Kobo, error) {
	type sum struct {
		n int64
		k money.Kobo
	}
	s, err := db.One(ctx, q, func(sc db.Scanner) (sum, error) {
		var v sum
		err := sc.Scan(&v.n, &v.k)
		return v, err
	}, `SELECT count(*), CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT)
		FROM operation WHERE company_id = $1 AND state = 'PENDING'`, company)
	return s.n, s.k, err
}

// eventCount is how many events there are and the number of the last.
func eventCount(ctx context.Context, q db.Querier, company string) (events, last int64, err error) {
	row, err := db.One(ctx, q, func(sc db.Scanner) ([2]int64, error) {
		var v [2]int64
		err := sc.Scan(&v[0], &v[1])
		return v, err
	}, `SELECT count(*), coalesce(max(sequence), 0) FROM event WHERE company_id = $1`, company)
	return row[0], row[1], err
}

// heads are all companies that have a book, with their last event, in order.
func heads(ctx context.Context, q db.Querier) ([]Head, error) {
	return db.All(ctx, q, func(r db.Scanner) (Head, error) {
		var h Head
		return h, r.Scan(&h.Company, &h.Sequence)
	}, `SELECT company_id, event_sequence FROM ledger_head ORDER BY company_id`)
}

// companies are all companies of which anything is in the database, in order.
func companies(ctx context.Context, q db.Querier) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `
		SELECT company_id FROM ledger_head UNION SELECT company_id FROM company
		UNION SELECT company_id FROM ledger_account UNION SELECT company_id FROM settlement_account
		UNION SELECT company_id FROM operation_case ORDER BY company_id`)
}

// purchaseFrom takes a filter in which an empty text or a 0 asks for nothing.
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
