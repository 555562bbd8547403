package ledger

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

// Head is a company with a ledger, and the number of its last row of evidence.
type Head struct {
	Company string
	Leaf    int64
}

// Heads returns the next companies with a ledger after a company, in the order of company IDs.
func Heads(ctx context.Context, q db.Querier, after string, limit int) ([]Head, error) {
	return db.All(ctx, q, db.Fields[Head], `SELECT company_id, leaf FROM ledger_head
		WHERE company_id > $1 ORDER BY company_id LIMIT $2`, after, limit)
}

// Booked is a transfer of a reference, with its number among the company's rows of evidence.
type Booked struct {
	Step, Debit, Credit string
	Leaf                int64
}

// Steps returns the transfers of a reference, in the order in which they were made.
func Steps(ctx context.Context, q db.Querier, company, reference string) ([]Booked, error) {
	return db.All(ctx, q, db.Fields[Booked], `SELECT step, debit_account, credit_account, leaf FROM ledger_transfer
		WHERE company_id = $1 AND reference = $2 ORDER BY created_at, leaf`, company, reference)
}
