package api

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ListSettlementAccounts shows the company's settlement accounts.
func (h *handlers) ListSettlementAccounts(ctx context.Context, _ ListSettlementAccountsRequestObject) (ListSettlementAccountsResponseObject, error) {
	accounts, err := h.Settlements.Accounts(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	rows := make([]SettlementAccount, 0, len(accounts))
	for _, a := range accounts {
		rows = append(rows, settlementAccount(a))
	}
	return ListSettlementAccounts200JSONResponse{Status: "success", Data: rows}, nil
}

// CreateSettlementAccount opens another settlement account.
func (h *handlers) CreateSettlementAccount(ctx context.Context, r CreateSettlementAccountRequestObject) (CreateSettlementAccountResponseObject, error) {
	c, key := callOf(ctx), keyOf(ctx)
	key.Render(func(result any, err error) idempotency.Answer {
		var answer CreateSettlementAccount200JSONResponse
		if err == nil {
			answer = newAccount(result.(settlement.Account))
		}
		return render(c.op.family, func(w http.ResponseWriter) error { return answer.VisitCreateSettlementAccountResponse(w) }, err)
	})
	a, err := h.Settlements.CreateOwn(ctx, c.company, r.Body.Name, key)
	if err != nil {
		return nil, err
	}
	return newAccount(a), nil
}

func newAccount(a settlement.Account) CreateSettlementAccount200JSONResponse {
	return CreateSettlementAccount200JSONResponse{Status: "success", Data: settlementAccount(a)}
}

func settlementAccount(a settlement.Account) SettlementAccount {
	return SettlementAccount{
		ID: a.ID, Name: a.Name, AccountNumber: present(a.AccountNumber), AccountName: present(a.AccountName),
		BankName: present(a.BankName), Balance: a.Balance, Currency: naira, IsDefault: a.IsDefault,
		Status: string(a.Status), CreatedAt: clock.Text(a.CreatedAt),
	}
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
