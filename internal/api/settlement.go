package api

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ListSettlementAccounts lists the company's settlement accounts, with their balances of now or of an
// earlier instant.
func (h *handlers) ListSettlementAccounts(ctx context.Context, r ListSettlementAccountsRequestObject) (ListSettlementAccountsResponseObject, error) {
	var q query
	at := q.instant("at", r.Params.At, true)
	if at.Add(-time.Millisecond).After(h.Clock.Now()) {
		q.wrong("at", "must not be in the future")
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	accounts, err := h.Reports.AccountsAt(ctx, callOf(ctx).company, at)
	if err != nil {
		return nil, err
	}
	return ListSettlementAccounts200JSONResponse{Status: "success", Data: append([]SettlementAccount{}, accounts...)}, nil
}

// CreateSettlementAccount opens a further settlement account for the company.
func (h *handlers) CreateSettlementAccount(ctx context.Context, r CreateSettlementAccountRequestObject) (CreateSettlementAccountResponseObject, error) {
	return answer(ctx, func(a settlement.Account) (CreateSettlementAccount200JSONResponse, error) {
		return CreateSettlementAccount200JSONResponse{Status: "success", Data: a}, nil
	}, func(key *idempotency.Key) (settlement.Account, error) {
		return h.Settlements.CreateOwn(ctx, callOf(ctx).company, r.Body.Name, key)
	})
}

// ListDayBalances returns the balances of a settlement account of the last days.
func (h *handlers) ListDayBalances(ctx context.Context, r ListDayBalancesRequestObject) (ListDayBalancesResponseObject, error) {
	var q query
	days := q.whole("days", r.Params.Days)
	if r.Params.Days == "" {
		days = 30
	}
	if q.problems == nil && (days < 1 || days > report.BalanceDays) {
		q.wrong("days", fmt.Sprintf("must be between 1 and %d", report.BalanceDays))
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	settlementID, err := strconv.ParseInt(r.SettlementID, 10, 64)
	if err != nil {
		settlementID = 0
	}
	list, err := h.Reports.DayBalances(ctx, callOf(ctx).company, settlementID, int(days))
	return ListDayBalances200JSONResponse{Status: "success", Data: each(list, func(b report.DayBalance) DayBalance {
		return DayBalance{Day: b.Day.Format(time.DateOnly), Balance: b.Balance}
	})}, err
}

// SetSettlementAlert sets the low-balance alert of a settlement account. If the id in the path
// is not a number, the response is that for an unknown account.
func (h *handlers) SetSettlementAlert(ctx context.Context, r SetSettlementAlertRequestObject) (SetSettlementAlertResponseObject, error) {
	settlementID, err := strconv.ParseInt(r.SettlementID, 10, 64)
	if err != nil {
		settlementID = 0
	}
	return answer(ctx, func(a settlement.Account) (SetSettlementAlert200JSONResponse, error) {
		return SetSettlementAlert200JSONResponse{Status: "success", Data: a}, nil
	}, func(key *idempotency.Key) (settlement.Account, error) {
		return h.Settlements.AlertOwn(ctx, callOf(ctx).company, settlementID, sent(r.Body.LowBalance), key)
	})
}
