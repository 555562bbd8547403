package api

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/provider"
)

// GenerateVirtualAccount opens a bank account for one payment.
func (h *handlers) GenerateVirtualAccount(ctx context.Context, r GenerateVirtualAccountRequestObject) (GenerateVirtualAccountResponseObject, error) {
	return answer(ctx, virtualAccount, func(key *idempotency.Key) (collection.Collection, error) {
		return h.Collections.Generate(ctx, collection.Request{
			Company: callOf(ctx).company, ExternalReference: r.Body.ExternalReference, Metadata: r.Body.Metadata, Amount: r.Body.Amount,
			SettlementID: sent(r.Body.SettlementID), ValidFor: time.Duration(sent(r.Body.ValidFor)) * time.Second,
			AccountName: sent(r.Body.AccountName), Control: provider.AmountControl(sent(r.Body.AmountControl)), Key: key,
		})
	})
}

// sent returns the value of an optional field, or the zero value if the field was not sent.
func sent[T any](field *T) (value T) {
	if field != nil {
		value = *field
	}
	return value
}

func virtualAccount(c collection.Collection) (GenerateVirtualAccount200JSONResponse, error) {
	return GenerateVirtualAccount200JSONResponse{Status: "success", Data: VirtualAccount{
		VirtualTrxID: c.ID, AccountNumber: c.AccountNumber, AccountName: c.AccountName, BankName: c.BankName, Amount: c.Amount,
		ExternalReference: c.ExternalReference, ExpiryDate: clock.Text(c.ExpiresAt.Time), Status: string(c.State),
		CreatedAt: clock.Text(c.CreatedAt.Time), Metadata: c.Metadata,
	}}, nil
}

// FindVirtualAccount returns the virtual account for one payment, with its state. The response does
// not contain the id.
func (h *handlers) FindVirtualAccount(ctx context.Context, r FindVirtualAccountRequestObject) (FindVirtualAccountResponseObject, error) {
	c, err := h.Collections.Find(ctx, callOf(ctx).company, r.TransactionID)
	if err != nil {
		return nil, err
	}
	return FindVirtualAccount200JSONResponse{Status: "success", Data: c}, nil
}
