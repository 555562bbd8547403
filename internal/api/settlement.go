package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ListSettlementAccounts shows the company's settlement accounts.
func (h *handlers) ListSettlementAccounts(ctx context.Context, _ ListSettlementAccountsRequestObject) (ListSettlementAccountsResponseObject, error) {
	accounts, err := h.Settlements.Accounts(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	return ListSettlementAccounts200JSONResponse{Status: "success", Data: append([]SettlementAccount{}, accounts...)}, nil
}

// CreateSettlementAccount opens another settlement account.
func (h *handlers) CreateSettlementAccount(ctx context.Context, r CreateSettlementAccountRequestObject) (CreateSettlementAccountResponseObject, error) {
	shape := func(a settlement.Account) CreateSettlementAccount200JSONResponse {
		return CreateSettlementAccount200JSONResponse{Status: "success", Data: a}
	}
	key := answering(ctx, func(a settlement.Account) func(http.ResponseWriter) error {
		return shape(a).VisitCreateSettlementAccountResponse
	})
	a, err := h.Settlements.CreateOwn(ctx, callOf(ctx).company, r.Body.Name, key)
	if err != nil {
		return nil, err
	}
	return shape(a), nil
}

// SetSettlementAlert says below which balance the company is told. What is no
// number is no account either.
func (h *handlers) SetSettlementAlert(ctx context.Context, r SetSettlementAlertRequestObject) (SetSettlementAlertResponseObject, error) {
	shape := func(a settlement.Account) SetSettlementAlert200JSONResponse {
		return SetSettlementAlert200JSONResponse{Status: "success", Data: a}
	}
	key := answering(ctx, func(a settlement.Account) func(http.ResponseWriter) error {
		return shape(a).VisitSetSettlementAlertResponse
	})
	settlementID, err := strconv.ParseInt(r.SettlementID, 10, 64)
	if err != nil {
		settlementID = 0
	}
	var below money.Kobo
	if r.Body.LowBalance != nil {
		below = *r.Body.LowBalance
	}
	a, err := h.Settlements.AlertOwn(ctx, callOf(ctx).company, settlementID, below, key)
	if err != nil {
		return nil, err
	}
	return shape(a), nil
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
