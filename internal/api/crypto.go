package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/idempotency"
)

// ListCryptoNetworks lists the networks on which deposits are accepted.
func (h *handlers) ListCryptoNetworks(context.Context, ListCryptoNetworksRequestObject) (ListCryptoNetworksResponseObject, error) {
	networks := h.Crypto.ListNetworks()
	rows := make([]CryptoNetwork, 0, len(networks))
	for _, n := range networks {
		rows = append(rows, CryptoNetwork{
			ID: n.ID, Chain: n.Chain, Name: n.Name, NativeAsset: n.NativeAsset, Tokens: append([]CryptoToken{}, n.Tokens...),
			IsActive: !n.Inactive, Confirmations: n.Confirmations,
		})
	}
	return ListCryptoNetworks200JSONResponse{Status: "success", Data: rows}, nil
}

// GenerateCryptoAddress makes a new address. A repeated request with the same
// Idempotency-Key gets the address of the first request.
func (h *handlers) GenerateCryptoAddress(ctx context.Context, r GenerateCryptoAddressRequestObject) (GenerateCryptoAddressResponseObject, error) {
	return resumable(ctx, func(a crypto.Address) (GenerateCryptoAddress200JSONResponse, error) {
		return GenerateCryptoAddress200JSONResponse{Status: "success", Data: a}, nil
	}, h.Crypto.Resume, func(key *idempotency.Key) (crypto.Address, error) {
		g := crypto.Generation{Company: callOf(ctx).company, NetworkID: r.NetworkID, Key: key}
		if r.Body != nil {
			g.Label = r.Body.Label
		}
		return h.Crypto.Generate(ctx, g)
	})
}

// ListCryptoAddresses lists the company's addresses on a network.
func (h *handlers) ListCryptoAddresses(ctx context.Context, r ListCryptoAddressesRequestObject) (ListCryptoAddressesResponseObject, error) {
	addresses, err := h.Crypto.Addresses(ctx, callOf(ctx).company, r.NetworkID)
	if err != nil {
		return nil, err
	}
	return ListCryptoAddresses200JSONResponse{Status: "success", Data: CryptoAddressList{Address: append([]CryptoAddress{}, addresses...)}}, nil
}

// FindLastCryptoTransaction returns the company's newest crypto transaction. The contract defines
// the response as a list, so the page is always 1 and the limit is always 1.
func (h *handlers) FindLastCryptoTransaction(ctx context.Context, _ FindLastCryptoTransactionRequestObject) (FindLastCryptoTransactionResponseObject, error) {
	transactions, total, err := h.Crypto.Transactions(ctx, callOf(ctx).company, crypto.TransactionFilter{}, 0, 1)
	if err != nil {
		return nil, err
	}
	return FindLastCryptoTransaction200JSONResponse{Status: "success", Data: CryptoLatest{
		Data: append([]CryptoTransaction{}, transactions...), Meta: CryptoLatestMeta{Total: total, Page: 1, Limit: 1, TotalPages: total},
	}}, nil
}

// ListCryptoTransactions lists the company's crypto transactions.
func (h *handlers) ListCryptoTransactions(ctx context.Context, r ListCryptoTransactionsRequestObject) (ListCryptoTransactionsResponseObject, error) {
	var q query
	filter := crypto.TransactionFilter{
		Type:      q.oneOf("type", r.Params.Type, "deposit", "withdrawal"),
		Status:    q.oneOf("status", r.Params.Status, "pending", "completed", "failed"),
		NetworkID: r.Params.NetworkID, Asset: r.Params.Asset, Hash: r.Params.Hash, Address: r.Params.Address,
		From: q.instant("from", r.Params.From, false),
		To:   q.instant("to", r.Params.To, true),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	transactions, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]crypto.Transaction, int, error) {
		return h.Crypto.Transactions(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]crypto.Transaction, error) {
		return h.Crypto.TransactionsAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	if err != nil {
		return nil, err
	}
	return ListCryptoTransactions200JSONResponse{Status: "success", Data: CryptoTransactionPage{
		Data: append([]CryptoTransaction{}, transactions...), Meta: meta,
	}}, nil
}
