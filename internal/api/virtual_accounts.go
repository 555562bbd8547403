package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/collection"
)

// ListVirtualAccounts lists the company's virtual accounts, newest first.
func (h *handlers) ListVirtualAccounts(ctx context.Context, r ListVirtualAccountsRequestObject) (ListVirtualAccountsResponseObject, error) {
	var q query
	filter := collection.Filter{
		State:        collection.State(q.oneOf("status", r.Params.Status, string(collection.Pending), string(collection.Success), string(collection.Failed))),
		SettlementID: q.id("settlementId", r.Params.SettlementID), ExternalReference: r.Params.ExternalReference,
		From: q.instant("from", r.Params.From, false), To: q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	rows, meta, err := shaped(ctx, r.Params.Page, r.Params.PageSize, listedVirtualAccount, func(offset, limit int) ([]collection.Collection, int, error) {
		return h.Collections.List(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]collection.Collection, error) {
		return h.Collections.After(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	return ListVirtualAccounts200JSONResponse{Status: "success", Data: VirtualAccountPage{Data: rows, Meta: meta}}, err
}

func listedVirtualAccount(c collection.Collection) ListedVirtualAccount {
	return ListedVirtualAccount{
		VirtualTrxID: c.ID, SettlementID: c.SettlementID, AccountNumber: c.AccountNumber, AccountName: c.AccountName, BankName: c.BankName,
		Amount: c.Amount, ExternalReference: c.ExternalReference, ExpiryDate: clock.Text(c.ExpiresAt.Time), Status: string(c.State),
		CreatedAt: clock.Text(c.CreatedAt.Time), Metadata: c.Metadata,
	}
}
