package payout

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/money"
)

// IsChanged reports whether a fault says that a payout or bulk payout has other values than a second person has seen.
func IsChanged(err error) bool {
	return errors.Is(err, errFeeChanged) || errors.Is(err, errBulkChanged) || errors.Is(err, errNothingGood)
}

// Terms returns the account that an order pays, and the fee, as they are now.
func (s *Service) Terms(ctx context.Context, o Order) (Verification, money.Kobo, error) {
	o.Fee = nil
	p, err := s.plan(ctx, o)
	return p.verification, p.operation.Fee, err
}

// BulkTerms returns a bulk payout with its sums as they are now.
func (s *Service) BulkTerms(ctx context.Context, reference, bulkID string) (Bulk, error) {
	b, err := s.readBulk(ctx, reference, bulkID)
	return b.shown(), err
}
