package collection

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, id, amount_kobo, expires_at, bank_name, account_number, external_reference, state, created_at,
	request, provider, reference, settlement_id, amount_control, account_name, bank_code, credit_id, called_until, missing,
	updated_at`

var collections = db.Declare[Collection]("collection", db.Reads(columns), db.Unique("company_id", "external_reference"))

const selects = `SELECT ` + columns + ` FROM collection `

func (s *Service) find(ctx context.Context, company, collectionID string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND id = $2`, company, collectionID)
}

func (s *Service) byExternal(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND external_reference = $2`, company, reference)
}

func (s *Service) byReference(ctx context.Context, company, reference string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`WHERE company_id = $1 AND reference = $2`, company, reference)
}

// byAccount returns the newest collection of an account number. The newest collection has the
// highest ID, because IDs are ordered by time.
func (s *Service) byAccount(ctx context.Context, company, accountNumber string) (Collection, error) {
	return db.One(ctx, s.DB, collections.Scan, selects+`
		WHERE company_id = $1 AND account_number = $2 AND account_number <> '' ORDER BY id DESC LIMIT 1`, company, accountNumber)
}
