package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// leaves is the counter that numbers the rows of evidence of no company. The rows of a company are
// numbered in its lock row.
const leaves Next = "leaf"

// ErrNoSigner reports that the program cannot sign rows.
var ErrNoSigner = fault.New(fault.Refused, "the audit log needs the evidence key: set evidence_key_file")

// Leaves returns the number of the company's last row of evidence. The company may be "".
func Leaves(ctx context.Context, q db.Querier, company string) (int64, error) {
	if company == "" {
		return Last(ctx, q, company, leaves)
	}
	return db.OrZero(db.One(ctx, q, db.Value[int64], `SELECT leaf FROM ledger_head WHERE company_id = $1`, company))
}

// Sign numbers and signs a row of evidence that belongs to no company. The caller inserts the row in
// the same transaction.
func Sign(ctx context.Context, q db.Querier, by db.Signer, r db.Record) (db.Record, error) {
	if by == nil {
		return r, ErrNoSigner
	}
	company := r.Values[0]
	if company != "" {
		return r, errors.New("ledger: only a unit numbers the rows of a company")
	}
	leaf, err := db.One(ctx, q, db.Value[int64], `INSERT INTO ledger_counter (company_id, name, value) VALUES ($1, $2, 1)
		ON CONFLICT (company_id, name) DO UPDATE SET value = ledger_counter.value + 1 RETURNING value`, company, string(leaves))
	signed := db.Record{Table: r.Table, Values: slices.Clone(r.Values)}
	seal(by, signed.Table, signed.Values, leaf, nil)
	return signed, err
}

// seal fills in the last two values of a row of evidence: its number in the company and its MAC. It
// returns the buffer with the content of the row.
func seal(by db.Signer, t *db.Table, row []any, leaf int64, buffer []byte) []byte {
	number, mac := len(row)-2, len(row)-1
	row[number] = leaf
	buffer = db.Content(buffer[:0], t, row)
	row[mac] = by.MAC(buffer)
	return buffer
}
