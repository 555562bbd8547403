package erasure

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

const columns = `company_id, customer_id, state, identity, response, sequence, last_sequence, erased_at, updated_at`

var rows = db.Declare[Erasure]("erasure", db.Reads(columns))

func (s *Service) find(ctx context.Context, company, customerID string) (Erasure, error) {
	return db.One(ctx, s.DB, rows.Scan, `SELECT `+columns+` FROM erasure WHERE company_id = $1 AND customer_id = $2`, company, customerID)
}

// opened returns the open erasures of all companies.
func (s *Service) opened(ctx context.Context) ([]Erasure, error) {
	return db.All(ctx, s.DB, rows.Scan, `SELECT `+columns+` FROM erasure WHERE state = 'OPEN' ORDER BY company_id, customer_id`)
}
