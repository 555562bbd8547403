package vtu

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Preview is the effect that a purchase would have.
type Preview = operation.Preview[money.Text]

var (
	errKeyUsed   = fault.New(fault.Refused, "idempotencyKey was used before: the existing transaction would be returned")
	errKeyFailed = fault.New(fault.Refused, "idempotencyKey was used before, by a purchase that failed: use another one")
)

// preview answers an order with DryRun. It writes nothing and calls no biller, so it
// does not know the biller's answer. Why is the known reason for a refusal. A missing
// product or account is a fault before, as in a purchase.
func (s *Shop) preview(ctx context.Context, order Order, amount money.Kobo, why error) (Receipt, error) {
	balance, err := s.Book.Balance(ctx, order.Company, settlement.LedgerAccount(order.SettlementID))
	if err != nil {
		return Receipt{}, err
	}
	if why == nil && balance < amount+leave {
		why = errShort
	}
	p := operation.NewPreview[money.Text](operation.Operation{Amount: amount}, balance, why)
	return Receipt{Preview: &p}, nil
}
