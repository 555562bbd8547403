package ledger

import (
	"context"
	"math"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// line is an entry as Verify reads it. The schema holds its amount to the difference of
// the balances.
type line struct {
	account                 string
	sequence                int64
	reference, step, amount string
	previous, current       int64
}

// Entries and transfers are read in the order of their primary keys, page after page.
const (
	entriesFrom = `
		SELECT account_id, reference, step, amount_kobo, sequence, previous_kobo, current_kobo
		FROM ledger_entry WHERE company_id = $1 AND (account_id, sequence) >= ($2, $3) ORDER BY account_id, sequence`
	transfersFrom = `
		SELECT reference, step, debit_account, credit_account, kind, amount_kobo, debit_entry, credit_entry
		FROM ledger_transfer WHERE company_id = $1 AND (reference, step) >= ($2, $3) ORDER BY reference, step`
)

// eachEntry reads all entries of a company, account by account in their order.
func eachEntry(ctx context.Context, q db.Querier, company string, use func(line)) error {
	e := line{sequence: math.MinInt64}
	return db.Pages(ctx, q, entriesFrom, 7,
		func() []any { return []any{company, e.account, e.sequence} },
		func(row []string) error {
			e.account, e.reference, e.step, e.amount = row[0], row[1], row[2], row[3]
			err := db.Numbers(row[4:], &e.sequence, &e.previous, &e.current)
			use(e)
			return err
		})
}

// eachTransfer reads all transfers of a company, in the order of their keys, with the
// numbers of their entries.
func eachTransfer(ctx context.Context, q db.Querier, company string, use func(t Transfer, debitEntry, creditEntry int64)) error {
	var t Transfer
	return db.Pages(ctx, q, transfersFrom, 8,
		func() []any { return []any{company, t.Reference, t.Step} },
		func(row []string) error {
			t = Transfer{Reference: row[0], Step: row[1], Debit: row[2], Credit: row[3], Kind: row[4]}
			var amount, debitEntry, creditEntry int64
			err := db.Numbers(row[5:], &amount, &debitEntry, &creditEntry)
			t.Amount = money.Kobo(amount)
			use(t, debitEntry, creditEntry)
			return err
		})
}
