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
// does not know the biller's answer. A missing product or account is a fault, as in a
// purchase. Why is the known reason for a refusal.
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

// unusable is the reason to refuse a purchase with a used verification. The commit of
// the real purchase decides again.
func (s *Shop) unusable(ctx context.Context, company, verificationID string) (why, err error) {
	if verificationID == "" {
		return nil, nil
	}
	v, err := s.findVerification(ctx, company, verificationID)
	if v.State == used {
		why = errVerificationUsed
	}
	return why, err
}
