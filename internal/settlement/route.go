package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operation"
)

// Route returns the ledger accounts that an operation's money passes through. The money goes from
// the settlement account, through the clearing account of the operation's kind, to the provider's
// account.
func Route(o operation.Operation) operation.Route {
	return operation.Route{
		Settlement: LedgerAccount(o.SettlementID), Clearing: ClearingAccount(o.Kind), Provider: ProviderAccount(o.Provider),
	}
}

// MayPay returns an error if the settlement account is unknown or inactive.
func (s *Service) MayPay(ctx context.Context, company string, settlementID int64) error {
	active, err := s.Active(ctx, company, settlementID)
	if err == nil && !active {
		err = fault.New(fault.Refused, "Settlement account not found")
	}
	return err
}
