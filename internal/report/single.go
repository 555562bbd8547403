package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
)

// The functions below read an operation together with the business's row in one SQL query.

// Payout returns a payout of the company by its reference.
func (s *Service) Payout(ctx context.Context, company, reference string) (payout.Payout, error) {
	p, err := db.One(ctx, s.db, scanPayout, `SELECT `+operation.Columns+`, `+operation.LabelColumns+`, `+payout.RowColumns+` FROM operation`+operation.LabelJoin+`
		JOIN payout ON payout.company_id = operation.company_id AND payout.id = operation.id
		JOIN payout_verification AS v ON v.company_id = operation.company_id AND v.id = operation.id
		WHERE operation.company_id = $1 AND operation.id = $2`, company, reference)
	return p, db.Missing(err, "Payout not found")
}

// Funding returns a funding of a card of the company by its reference.
func (s *Service) Funding(ctx context.Context, company, reference string) (card.Funding, error) {
	f, err := db.One(ctx, s.db, func(sc db.Scanner) (card.Funding, error) {
		var o operation.Operation
		var cardID string
		err := sc.Scan(append(append(o.Targets(), o.Labels.Targets()...), &cardID)...)
		return card.Of(o, cardID), err
	}, `SELECT `+operation.Columns+`, `+operation.LabelColumns+`, f.card_id FROM operation`+operation.LabelJoin+`
		JOIN card_funding AS f ON f.company_id = operation.company_id AND f.id = operation.id
		WHERE operation.company_id = $1 AND operation.id = $2`, company, reference)
	return f, db.Missing(err, "Card transaction not found")
}
