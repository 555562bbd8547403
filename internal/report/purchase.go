package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// PurchaseFilter narrows a list of purchases. A zero field filters nothing.
type PurchaseFilter struct {
	Type         string
	Status       string
	SettlementID int64
	From, To     time.Time // created at From or later, and before To
}

// args are the statements' parameters $1 to $6.
func (f PurchaseFilter) args(company string) []any {
	return []any{company, f.Type, f.Status, f.SettlementID, clock.Micros(f.From), clock.Micros(f.To)}
}

// Purchases is a page of the company's VTU transactions, newest first, and their number.
func (s *Service) Purchases(ctx context.Context, company string, f PurchaseFilter, offset, limit int) ([]vtu.Transaction, int, error) {
	total, err := purchaseCount(ctx, s.db, f.args(company))
	if err != nil {
		return nil, 0, err
	}
	list, err := purchases(ctx, s.db, append(f.args(company), limit, offset))
	return list, int(total), err
}
