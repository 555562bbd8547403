package settlement

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
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

// MayPay returns an error if the settlement account is unknown, inactive or closed to debits.
func (s *Service) MayPay(ctx context.Context, company string, settlementID int64) error {
	active, err := s.Active(ctx, company, settlementID)
	if err == nil && !active {
		err = errNotChosen
	}
	if err != nil {
		return err
	}
	return s.IsOpen(ctx, company, settlementID)
}

// IsOpen returns an error if the settlement account is closed to debits.
func (s *Service) IsOpen(ctx context.Context, company string, settlementID int64) error {
	closed, err := db.OrZero(s.Book.ClosedAt(ctx, company, LedgerAccount(settlementID)))
	if err == nil && !closed.IsZero() {
		err = errClosed
	}
	return err
}

// ExpectActive makes the ledger refuse a unit unless the settlement account is active at the
// commit. MayNotPay recognises this refusal.
func ExpectActive(u *ledger.Unit, settlementID int64) {
	u.Expect(accounts.Record(Account{Company: u.Company, ID: settlementID}), string(Active))
}

// MayNotPay turns the ledger's refusal because of ExpectActive, or because the account is closed to
// debits, into the fault of MayPay. It returns nil for any other error.
func MayNotPay(err error) error {
	if ledger.Is(err, ledger.Closed) {
		return errClosed
	}
	if ledger.Is(err, ledger.Moved, accounts.Table) || ledger.Is(err, ledger.NoCompany) {
		return errNotChosen
	}
	return nil
}
