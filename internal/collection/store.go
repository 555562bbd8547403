package collection

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

var table = &db.Table{
	Name: "collection", Key: 2, State: "state", Unique: []string{"company_id", "external_reference"},
	Columns: slices.Concat(
		db.Texts("company_id", "id", "external_reference", "request", "state", "provider", "reference"),
		db.Ints("settlement_id", "amount_kobo"),
		db.Texts("amount_control", "account_number", "account_name", "bank_name", "bank_code", "credit_id"),
		db.Ints("called_until", "expires_at", "created_at", "updated_at"),
	),
}

func (c Collection) record() db.Record {
	return db.Record{Table: table, Values: []any{
		c.Company, c.ID, c.ExternalReference, c.request, string(c.State), c.provider, c.reference,
		c.SettlementID, int64(c.Amount), string(c.Control), c.AccountNumber, c.AccountName, c.BankName, c.BankCode, c.CreditID,
		clock.Micros(c.calledUntil), clock.Micros(c.ExpiresAt), clock.Micros(c.CreatedAt), clock.Micros(c.UpdatedAt),
	}}
}

const columns = `SELECT company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo,
	amount_control, account_number, account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at
	FROM collection `

func scan(r db.Scanner) (Collection, error) {
	var c Collection
	var called, expires, created, updated int64
	err := r.Scan(&c.Company, &c.ID, &c.ExternalReference, &c.request, &c.State, &c.provider, &c.reference,
		&c.SettlementID, &c.Amount, &c.Control, &c.AccountNumber, &c.AccountName, &c.BankName, &c.BankCode, &c.CreditID,
		&called, &expires, &created, &updated)
	c.calledUntil, c.ExpiresAt = clock.Time(called), clock.Time(expires)
	c.CreatedAt, c.UpdatedAt = clock.Time(created), clock.Time(updated)
	return c, err
}

func (s *Service) find(ctx context.Context, company, collectionID string) (Collection, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1 AND id = $2`, company, collectionID)
}

func (s *Service) byExternal(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1 AND external_reference = $2`, company, reference)
}

func (s *Service) byReference(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.db, scan, columns+`WHERE company_id = $1 AND reference = $2`, company, reference)
}

// byAccount is the newest collection of an account: ids are ordered by time.
func (s *Service) byAccount(ctx context.Context, company, accountNumber string) (Collection, error) {
	return db.One(ctx, s.db, scan, columns+`
		WHERE company_id = $1 AND account_number = $2 AND account_number <> '' ORDER BY id DESC LIMIT 1`, company, accountNumber)
}
