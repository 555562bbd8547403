package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Route returns the way of an operation's money from its settlement account to its
// provider's account. The clearing account of its kind holds the money in between.
func Route(o operation.Operation) operation.Route {
	return operation.Route{
		Settlement: LedgerAccount(o.SettlementID), Clearing: ClearingAccount(o.Kind), Provider: ProviderAccount(o.Provider),
	}
}

// MayPay refuses an unknown or inactive settlement account.
func (s *Service) MayPay(ctx context.Context, company string, settlementID int64) error {
	active, err := s.Active(ctx, company, settlementID)
	if err == nil && !active {
		err = fault.New(fault.Refused, "Settlement account not found")
	}
	return err
}
