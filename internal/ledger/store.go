package ledger

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

var (
	headTable = &db.Table{
		Name: "ledger_head", Key: 1,
		Columns: append(db.Texts("company_id"), db.Ints("event_sequence")...),
	}
	accountTable = &db.Table{
		Name: "ledger_account", Key: 2,
		Columns: append(db.Texts("company_id", "id"),
			db.Ints("floor_kobo", "balance_kobo", "entry_sequence", "created_at")...),
	}
	transferTable = &db.Table{
		Name: "ledger_transfer", Key: 2,
		Columns: []db.Column{
			{Name: "company_id"}, {Name: "id"}, {Name: "debit_account"}, {Name: "credit_account"},
			{Name: "amount_kobo", Type: db.Int}, {Name: "kind"}, {Name: "reference"}, {Name: "narration"},
			{Name: "created_at", Type: db.Int},
		},
	}
	entryTable = &db.Table{
		Name: "ledger_entry", Key: 3,
		Columns: []db.Column{
			{Name: "company_id"}, {Name: "account_id"}, {Name: "sequence", Type: db.Int}, {Name: "transfer_id"},
			{Name: "amount_kobo", Type: db.Int}, {Name: "previous_kobo", Type: db.Int},
			{Name: "current_kobo", Type: db.Int}, {Name: "created_at", Type: db.Int},
		},
	}
)

// Balance is what an account holds; 0 for one that does not exist.
func (b *Book) Balance(ctx context.Context, company, account string) (money.Kobo, error) {
	k, err := db.One(ctx, b.db, db.Value[money.Kobo],
		`SELECT balance_kobo FROM ledger_account WHERE company_id = $1 AND id = $2`, company, account)
	if errors.Is(err, db.ErrNone) {
		return 0, nil
	}
	return k, err
}

// Balances are all of a company's accounts, by id.
func (b *Book) Balances(ctx context.Context, company string) (map[string]money.Kobo, error) {
	type line struct {
		id string
		k  money.Kobo
	}
	lines, err := db.All(ctx, b.db, func(s db.Scanner) (line, error) {
		var l line
		err := s.Scan(&l.id, &l.k)
		return l, err
	}, `SELECT id, balance_kobo FROM ledger_account WHERE company_id = $1`, company)
	out := make(map[string]money.Kobo, len(lines))
	for _, l := range lines {
		out[l.id] = l.k
	}
	return out, err
}

// Head is the number of the company's last event; 0 for no such company.
func (b *Book) Head(ctx context.Context, company string) (int64, error) {
	n, err := db.One(ctx, b.db, db.Value[int64],
		`SELECT event_sequence FROM ledger_head WHERE company_id = $1`, company)
	if errors.Is(err, db.ErrNone) {
		return 0, nil
	}
	return n, err
}
