package sandbox

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

const transferColumns = `id, direction, session, reference, external, account, virtual, enquiry, bank, credit_number, credit_name,
	debit_number, debit_name, narration, amount_kobo, reversed, ending, status, executions, requests, polls, created_at, updated_at`

func scanTransfer(r db.Scanner) (v transfer, err error) {
	var virtual, reversed int64
	err = r.Scan(&v.id, &v.direction, &v.session, &v.reference, &v.external, &v.account, &virtual, &v.enquiry, &v.bank,
		&v.creditNumber, &v.creditName, &v.debitNumber, &v.debitName, &v.narration, &v.amount, &reversed,
		&v.ending, &v.status, &v.executions, &v.requests, &v.polls, &v.createdAt, &v.updatedAt)
	v.virtual, v.reversed = virtual == 1, reversed == 1
	return v, err
}

func addTransfer(ctx context.Context, q db.Querier, v transfer) error {
	_, err := q.Exec(ctx, `INSERT INTO sandbox_transfer (`+transferColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
		v.id, v.direction, v.session, v.reference, v.external, v.account, db.Flag(v.virtual), v.enquiry, v.bank,
		v.creditNumber, v.creditName, v.debitNumber, v.debitName, v.narration, int64(v.amount), db.Flag(v.reversed),
		v.ending, v.status, v.executions, v.requests, v.polls, v.createdAt, v.updatedAt)
	return err
}

func updateTransfer(ctx context.Context, q db.Querier, v transfer) error {
	_, err := q.Exec(ctx, `UPDATE sandbox_transfer SET polls = $1, status = $2, executions = $3, reversed = $4, updated_at = $5 WHERE id = $6`,
		v.polls, v.status, v.executions, db.Flag(v.reversed), v.updatedAt, v.id)
	return err
}

// findTransfer is a transfer by its session, or one that went out by the
// client's reference.
func findTransfer(ctx context.Context, q db.Querier, session, reference string) (transfer, error) {
	if session != "" {
		return db.One(ctx, q, scanTransfer, `SELECT `+transferColumns+` FROM sandbox_transfer WHERE session = $1`, session)
	}
	return db.One(ctx, q, scanTransfer,
		`SELECT `+transferColumns+` FROM sandbox_transfer WHERE direction = 'Outwards' AND reference = $1`, reference)
}

// transfers lists one direction, the newest first: of one holder or of all.
func (s *Sandbox) transfers(ctx context.Context, direction, account string, d span, p page) (rows []transfer, total int64, err error) {
	const which = ` FROM sandbox_transfer WHERE direction = $1 AND ($2 = '' OR account = $2) AND created_at >= $3 AND created_at < $4`
	if total, err = db.One(ctx, s.books, db.Value[int64], `SELECT COUNT(*)`+which, direction, account, d.from, d.before); err != nil {
		return nil, 0, err
	}
	rows, err = db.All(ctx, s.books, scanTransfer, `SELECT `+transferColumns+which+` ORDER BY created_at DESC, id LIMIT $5 OFFSET $6`,
		direction, account, d.from, d.before, p.limit, p.number*p.limit)
	return rows, total, err
}

// executedTransfers are those that were really made: all, or one by its reference.
func (s *Sandbox) executedTransfers(ctx context.Context, reference string) ([]transfer, error) {
	return db.All(ctx, s.books, scanTransfer, `SELECT `+transferColumns+` FROM sandbox_transfer
		WHERE executions > 0 AND ($1 = '' OR reference = $1) ORDER BY created_at, id`, reference)
}

// paidInto tells whether something came into an account.
func (s *Sandbox) paidInto(ctx context.Context, account string) (bool, error) {
	n, err := db.One(ctx, s.books, db.Value[int64], `SELECT COUNT(*) FROM sandbox_transfer WHERE account = $1 AND status = 'successful'`, account)
	return n > 0, err
}
