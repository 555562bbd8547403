package report

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
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

func scanPurchase(sc db.Scanner) (vtu.Transaction, error) {
	var o operation.Operation
	var p vtu.Purchase
	err := sc.Scan(append(o.Targets(), p.Targets()...)...)
	return vtu.Of(o, p), err
}

// onePurchase is SQL that selects at most two purchases: one by its ID, and one by its
// idempotencyKey.
const onePurchase = `SELECT ` + operation.Columns + `, ` + vtu.PurchaseColumns + ` FROM operation JOIN vtu_purchase AS p
	ON p.company_id = operation.company_id AND p.id = operation.id
	WHERE operation.company_id = $1 AND operation.id = $2
	UNION ALL SELECT ` + operation.Columns + `, ` + vtu.PurchaseColumns + ` FROM operation JOIN vtu_purchase AS p
	ON p.company_id = operation.company_id AND p.id = operation.id
	WHERE operation.company_id = $1 AND operation.kind = 'vtu' AND operation.idempotency_key = $2 AND operation.idempotency_key <> ''`

// Purchase returns a VTU transaction of the company by its ID or, if no transaction has this ID, by
// its idempotencyKey.
func (s *Service) Purchase(ctx context.Context, company, idOrKey string) (vtu.Transaction, error) {
	found, err := db.All(ctx, s.db, scanPurchase, onePurchase, company, idOrKey)
	if err != nil {
		return vtu.Transaction{}, err
	}
	if len(found) == 0 {
		return vtu.Transaction{}, fault.New(fault.Missing, "Transaction not found")
	}
	byID := slices.IndexFunc(found, func(t vtu.Transaction) bool { return t.ID == idOrKey })
	return found[max(byID, 0)], nil
}

// Purchases returns a page of the company's VTU transactions, newest first, and the total count.
func (s *Service) Purchases(ctx context.Context, company string, f PurchaseFilter, offset, limit int) ([]vtu.Transaction, int, error) {
	list, total, err := page(ctx, s.db, scanPurchase, `SELECT count(p.id)`+purchaseFrom,
		`SELECT `+operation.Columns+`, `+vtu.PurchaseColumns+purchaseFrom+` ORDER BY p.created_at DESC, p.id DESC LIMIT $7 OFFSET $8`,
		limit, offset, company, f.Type, f.Status, f.SettlementID, clock.Micros(f.From), clock.Micros(f.To))
	return list, int(total), err
}
