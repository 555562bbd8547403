package report

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Doubts returns the doubts about those of a company's payments whose outcome is contradicted.
func (s *Service) Doubts(ctx context.Context, company string, references []string) (map[string]operation.Doubt, error) {
	return operation.Doubts(ctx, s.db, company, references)
}

// mostInDoubt is the number of the outcomes that InDoubt returns at most.
const mostInDoubt = 20

// InDoubt returns the outcomes of a company that are in doubt: of the operations with an outcome that a later answer or the bank's statement contradicts.
func (s *Service) InDoubt(ctx context.Context, company string) ([]Outcome, error) {
	ids, err := operation.AllInDoubt(ctx, s.db, company, mostInDoubt)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	list, err := db.All(ctx, s.db, scanOutcome, outcomeColumns+`WHERE operation.company_id = $1 AND operation.id = ANY($2) ORDER BY operation.created_at + 0 DESC`, company, ids)
	for i := range list {
		list[i].Doubt = operation.InDoubt
	}
	return list, err
}
