package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// overdue is the age from which an open operation counts as overdue. At that age the resolver has
// already stopped polling the provider for the outcome.
const overdue = 72 * time.Hour

// Overdue is money that has been in a clearing account for more than 72 hours.
type Overdue struct {
	Company    string
	Account    string
	Amount     money.Kobo
	Operations []operation.Operation
	// Cases are the cases about the operations, in the order of Operations. A case without an ID could not be opened.
	Cases []operation.Case
}

// Overdue returns the money that has been in clearing accounts for more than 72 hours, with the
// operations that the money belongs to.
func (s *Service) Overdue(ctx context.Context) (list []Overdue, err error) {
	old, err := db.All(ctx, s.db, operation.Scan, `SELECT `+operation.Columns+` FROM operation
		WHERE (operation.company_id, operation.id) IN (
			SELECT company_id, subject FROM job WHERE kind = 'operation.resolve'
			UNION SELECT company_id, subject FROM operation_case WHERE `+isOpenCase+`)
			AND operation.state = 'PENDING' AND operation.created_at < $1
		ORDER BY operation.company_id, operation.kind, operation.id`, clock.Micros(s.clock.Now().Add(-overdue)))
	for _, o := range old {
		account := settlement.ClearingAccount(o.Kind)
		if n := len(list); n == 0 || list[n-1].Company != o.Company || list[n-1].Account != account {
			list = append(list, Overdue{Company: o.Company, Account: account})
		}
		last := &list[len(list)-1]
		last.Amount += o.Amount + o.Fee
		last.Operations = append(last.Operations, o)
	}
	return list, err
}
