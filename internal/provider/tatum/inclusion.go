package tatum

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

// named are the fields in which Tatum's replies name a transaction: txID on Tron, hash on Bitcoin, transactionHash and hash
// on Ethereum. The field txid is Bitcoin's own.
type named struct {
	Hash            provider.Text `json:"hash"`
	TransactionHash provider.Text `json:"transactionHash"`
	TxID            provider.Text `json:"txID"` // txid too, since the letters' case does not count
}

// is reports whether a reply names the transaction with this hash.
func (t named) is(n chain.Network, hash string) bool {
	return slices.ContainsFunc([]provider.Text{t.Hash, t.TransactionHash, t.TxID}, func(name provider.Text) bool {
		return name != "" && n.FoldHash(string(name)) == n.FoldHash(hash)
	})
}

// Inclusion asks Tatum for the transaction and for the chain's last block. A transaction waits for its block only if the reply
// names it. Otherwise the reply is unreadable: a reply without anything must not hold back a transaction that has left
// the chain.
func (p *Plug) Inclusion(ctx context.Context, n chain.Network, hash string) (provider.Inclusion, error) {
	var tx struct {
		named
		BlockNumber *int64 `json:"blockNumber"`
		BlockHash   string `json:"blockHash"`
		Status      *bool  `json:"status"`
		Ret         []struct {
			ContractRet string `json:"contractRet"`
		} `json:"ret"`
	}
	// The last block comes first. Blocks that come while the calls are under way then do not count: the transaction may have
	// left the chain meanwhile.
	head, err := p.head(ctx, n)
	if err != nil {
		return provider.Inclusion{}, err
	}
	err = p.read(ctx, http.MethodGet, "/v3/"+n.Chain+"/transaction/"+url.PathEscape(hash), nil, &tx)
	if err != nil && !notFound(err) {
		return provider.Inclusion{}, err
	}
	at := provider.Inclusion{Head: head}
	switch {
	case err != nil:
	case (tx.BlockNumber == nil || *tx.BlockNumber <= 0) && !tx.is(n, hash):
		return provider.Inclusion{}, &provider.Error{Provider: name, Code: provider.CodeUnreadable, Message: "the answer names neither a block nor the transaction"}
	case tx.BlockNumber == nil || *tx.BlockNumber <= 0:
		at.Waiting = true
	default:
		at.Found, at.Block, at.BlockHash = true, *tx.BlockNumber, tx.BlockHash
		at.Reverted = tx.Status != nil && !*tx.Status || len(tx.Ret) > 0 && tx.Ret[0].ContractRet != "SUCCESS" && tx.Ret[0].ContractRet != ""
	}
	return at, nil
}

// head returns the number of the chain's last block. Each kind of chain has a different URL path.
func (p *Plug) head(ctx context.Context, n chain.Network) (int64, error) {
	var number int64
	switch n.Kind {
	case chain.EVM:
		var text json.Number
		err := p.read(ctx, http.MethodGet, "/v3/"+n.Chain+"/block/current", nil, &text)
		if err != nil {
			return 0, err
		}
		number, _ = text.Int64() // 0 is refused below
	default:
		var info struct {
			BlockNumber int64 `json:"blockNumber"` // Tron
			Blocks      int64 `json:"blocks"`      // Bitcoin
		}
		if err := p.read(ctx, http.MethodGet, "/v3/"+n.Chain+"/info", nil, &info); err != nil {
			return 0, err
		}
		number = max(info.BlockNumber, info.Blocks)
	}
	if number <= 0 {
		return 0, &provider.Error{Provider: name, Code: provider.CodeUnreadable, Message: "the number of the last block cannot be read"}
	}
	return number, nil
}
