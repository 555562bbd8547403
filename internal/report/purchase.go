package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// PurchaseFilter narrows a list of purchases. A field that is zero does not filter.
type PurchaseFilter struct {
	Type         string
	Status       string
	SettlementID int64
	From, To     time.Time // created at From or later, and before To
}

// purchaseFrom is SQL that selects the purchases that match a filter. An empty text or a 0 in the
// filter does not filter.
const purchaseFrom = ` FROM vtu_purchase AS p JOIN operation
	ON operation.company_id = p.company_id AND operation.id = p.id
	WHERE p.company_id = $1
		AND (p.kind = $2 OR $2 = '')
		AND (operation.state = $3 OR $3 = '')
		AND (operation.settlement_id = $4 OR $4 = 0)
		AND (operation.created_at >= $5 OR $5 = 0)
		AND (operation.created_at < $6 OR $6 = 0)`

// Purchases returns a page of the company's VTU transactions, newest first, and the total count.
func (s *Service) Purchases(ctx context.Context, company string, f PurchaseFilter, offset, limit int) ([]vtu.Transaction, int, error) {
	scan := func(sc db.Scanner) (vtu.Transaction, error) {
		var o operation.Operation
		var p vtu.Purchase
		err := sc.Scan(append(o.Targets(), p.Targets()...)...)
		return vtu.Of(o, p), err
	}
	list, total, err := page(ctx, s.db, scan, `SELECT count(p.id)`+purchaseFrom,
		`SELECT `+operation.Columns+`, `+vtu.PurchaseColumns+purchaseFrom+` ORDER BY p.created_at DESC, p.id DESC LIMIT $7 OFFSET $8`,
		limit, offset, company, f.Type, f.Status, f.SettlementID, clock.Micros(f.From), clock.Micros(f.To))
	return list, int(total), err
}
