package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
)

// ListSettlementAccounts shows the company's settlement accounts.
func (h *handlers) ListSettlementAccounts(ctx context.Context, _ ListSettlementAccountsRequestObject) (ListSettlementAccountsResponseObject, error) {
	accounts, err := h.Settlements.Accounts(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	rows := make([]SettlementAccount, 0, len(accounts))
	for _, a := range accounts {
		rows = append(rows, SettlementAccount{
			ID: a.ID, Name: a.Name, AccountNumber: present(a.AccountNumber), AccountName: present(a.AccountName),
			BankName: present(a.BankName), Balance: a.Balance, Currency: naira, IsDefault: a.IsDefault,
			Status: string(a.Status), CreatedAt: clock.Text(a.CreatedAt),
		})
	}
	return ListSettlementAccounts200JSONResponse{Status: "success", Data: rows}, nil
}

// naira is the currency of every amount.
var naira = Currency{Name: "NGN"}

// present is a text, or null for one that does not exist.
func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
