package api

import (
	"context"
	"encoding/json"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/idempotency"
)

// ListCryptoNetworks shows where deposits are taken.
func (h *handlers) ListCryptoNetworks(context.Context, ListCryptoNetworksRequestObject) (ListCryptoNetworksResponseObject, error) {
	networks := h.Crypto.ListNetworks()
	rows := make([]CryptoNetwork, 0, len(networks))
	for _, n := range networks {
		row := CryptoNetwork{
			ID: n.ID, Chain: n.Chain, Name: n.Name, NativeAsset: n.NativeAsset, Tokens: []CryptoToken{},
			IsActive: !n.Inactive, Confirmations: n.Confirmations,
		}
		for _, t := range n.Tokens {
			row.Tokens = append(row.Tokens, CryptoToken{Symbol: t.Symbol, ContractAddress: t.Contract, Decimals: t.Decimals})
		}
		rows = append(rows, row)
	}
	return ListCryptoNetworks200JSONResponse{Status: "success", Data: rows}, nil
}

// GenerateCryptoAddress makes one more address. One that an earlier request with
// the same Idempotency-Key has made is answered for, and no other is made.
func (h *handlers) GenerateCryptoAddress(ctx context.Context, r GenerateCryptoAddressRequestObject) (GenerateCryptoAddressResponseObject, error) {
	return answer(ctx, func(a crypto.Address) (GenerateCryptoAddress200JSONResponse, error) {
		return GenerateCryptoAddress200JSONResponse{Status: "success", Data: cryptoAddress(a)}, nil
	}, func(key *idempotency.Key) (crypto.Address, error) {
		company := callOf(ctx).company
		if begun := key.Subject(); begun != "" {
			return h.Crypto.Resume(ctx, company, begun, key)
		}
		g := crypto.Generation{Company: company, NetworkID: r.NetworkID, Key: key}
		if r.Body != nil {
			g.Label = r.Body.Label
		}
		return h.Crypto.Generate(ctx, g)
	})
}

func cryptoAddress(a crypto.Address) CryptoAddress {
	return CryptoAddress{
		Address: a.Address, Index: a.Index, Network: CryptoAddressNetwork{Chain: a.Chain, Name: a.Name}, Label: present(a.Label),
	}
}

// ListCryptoAddresses shows the company's addresses on a network.
func (h *handlers) ListCryptoAddresses(ctx context.Context, r ListCryptoAddressesRequestObject) (ListCryptoAddressesResponseObject, error) {
	addresses, err := h.Crypto.Addresses(ctx, callOf(ctx).company, r.NetworkID)
	if err != nil {
		return nil, err
	}
	rows := make([]CryptoAddress, 0, len(addresses))
	for _, a := range addresses {
		rows = append(rows, cryptoAddress(a))
	}
	return ListCryptoAddresses200JSONResponse{Status: "success", Data: CryptoAddressList{Address: rows}}, nil
}

// FindLastCryptoTransaction is the contract's list of transactions: always page 1
// with a limit of 1, whatever was asked for.
func (h *handlers) FindLastCryptoTransaction(ctx context.Context, _ FindLastCryptoTransactionRequestObject) (FindLastCryptoTransactionResponseObject, error) {
	transactions, total, err := h.Crypto.Transactions(ctx, callOf(ctx).company, crypto.TransactionFilter{}, 0, 1)
	if err != nil {
		return nil, err
	}
	return FindLastCryptoTransaction200JSONResponse{Status: "success", Data: CryptoLatest{
		Data: cryptoTransactions(transactions), Meta: CryptoLatestMeta{Total: total, Page: 1, Limit: 1, TotalPages: total},
	}}, nil
}

// ListCryptoTransactions shows all of them.
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
	p := newPage(r.Params.Page, r.Params.PageSize)
	transactions, total, err := h.Crypto.Transactions(ctx, callOf(ctx).company, filter, p.offset(), p.size)
	if err != nil {
		return nil, err
	}
	return ListCryptoTransactions200JSONResponse{Status: "success", Data: CryptoTransactionPage{
		Data: cryptoTransactions(transactions), Meta: p.meta(callOf(ctx).request.URL, len(transactions), total),
	}}, nil
}

func cryptoTransactions(transactions []crypto.Transaction) []CryptoTransaction {
	rows := make([]CryptoTransaction, 0, len(transactions))
	for _, t := range transactions {
		rows = append(rows, CryptoTransaction{
			ID: t.ID, Type: string(t.Type), Direction: t.Direction(), Status: string(t.Status), TxHash: t.Hash,
			Amount: json.Number(t.Amount().String()), From: present(t.From()), Asset: t.Asset, CompanyID: t.Company,
			NetworkID: t.NetworkID, TokenAddress: t.TokenAddress(),
			Meta:      CryptoMeta{From: t.Sender(), CounterAddress: t.Counter, BlockNumber: t.Block, Raw: t.Raw},
			CreatedAt: clock.Text(t.CreatedAt), UpdatedAt: clock.Text(t.UpdatedAt),
			AmountDecimal: t.AmountDecimal(), AmountUnits: t.Units.String(), Decimals: t.Decimals,
			ContractAddress: present(t.Contract), Address: t.Address,
		})
	}
	return rows
}
