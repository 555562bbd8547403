package vtu

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Preview is what a purchase would come to: the answer to an order that is only
// tried (Order.DryRun). Nothing is written and no biller is asked, so it cannot
// know what a biller would say. What leaves nothing to price (no such product, no
// such account) is a fault, as in a purchase.
type Preview struct {
	Amount, Fee  money.Kobo
	Balance      money.Kobo // now
	BalanceAfter money.Kobo // the same when it would be refused
	Refusal      string     // what would refuse it; "" for nothing that is known now
}

const (
	keyUsed          = "idempotencyKey was used before: the existing transaction would be returned"
	keyFailed        = "idempotencyKey was used before, by a purchase that failed: use another one"
	verificationUsed = "Verification already used"
)

// keyRefusal says that the key of an order has made this purchase.
func keyRefusal(earlier operation.Operation) string {
	if earlier.State == operation.Failed {
		return keyFailed
	}
	return keyUsed
}

// unusable says when a purchase would be refused because its verification is used;
// "" when not, or when it has none. By the time of the real one this may have
// changed: that one's own commit decides.
func (s *Shop) unusable(ctx context.Context, company, verificationID string) (refusal string, err error) {
	if verificationID == "" {
		return "", nil
	}
	v, err := s.findVerification(ctx, company, verificationID)
	if v.State == used {
		refusal = verificationUsed
	}
	return refusal, err
}

func (s *Shop) preview(ctx context.Context, order Order, amount money.Kobo, refusal string) (Receipt, error) {
	balance, err := s.book.Balance(ctx, order.Company, settlement.LedgerAccount(order.SettlementID))
	if err != nil {
		return Receipt{}, err
	}
	p := Preview{Amount: amount, Balance: balance, BalanceAfter: balance, Refusal: refusal}
	switch {
	case refusal != "":
	case balance < amount+leave:
		p.Refusal = "Insufficient balance"
	default:
		p.BalanceAfter -= amount
	}
	return Receipt{Preview: &p}, nil
}
