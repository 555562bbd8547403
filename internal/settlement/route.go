package settlement

import "github.com/kobo-waas/kobo/internal/operation"

// Route is the way of an operation's money from its settlement account to its
// provider's account. The clearing account of its kind holds the money in between.
func Route(o operation.Operation) operation.Route {
	return operation.Route{
		Settlement: LedgerAccount(o.SettlementID), Clearing: ClearingAccount(o.Kind), Provider: ProviderAccount(o.Provider),
	}
}
