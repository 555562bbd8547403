package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// TransferFunds moves money between two settlement accounts of the company.
func (h *handlers) TransferFunds(ctx context.Context, r TransferFundsRequestObject) (TransferFundsResponseObject, error) {
	return answer(ctx, func(t settlement.Transfer) (TransferFunds200JSONResponse, error) {
		return TransferFunds200JSONResponse{Status: "success", Message: "Transfer successful", Data: t}, nil
	}, func(key *idempotency.Key) (settlement.Transfer, error) {
		return h.Settlements.Move(ctx, settlement.Transfer{
			Company: callOf(ctx).company, From: r.Body.FromSettlementID, To: r.Body.ToSettlementID, Amount: r.Body.Amount, Narration: r.Body.Narration,
		}, key)
	})
}
