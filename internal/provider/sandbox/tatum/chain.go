package tatum

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// firstBlock is the block number of every simulated chain at the Unix time 0.
const firstBlock = 1_000_000

// testnet returns a test network by its id, or by its chain's short name.
func testnet(name string) (chain.Network, bool) {
	for _, n := range chain.Testnets() {
		if n.ID == name || n.Chain == name {
			return n, true
		}
	}
	return chain.Network{}, false
}

// headOf returns the number of a chain's last block at the clock's time. The chain gets a new block
// every BlockSeconds.
func (c *Custodian) headOf(n chain.Network) int64 {
	return firstBlock + c.Clock.Now().Unix()/n.BlockSeconds
}

func pathChain(r *http.Request) (chain.Network, error) {
	n, known := testnet(r.PathValue("chain"))
	if !known {
		return n, no{http.StatusNotFound, "chain.not.found", "There is no such chain"}
	}
	return n, nil
}

func (c *Custodian) showHead(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	return c.headOf(n), nil
}

func (c *Custodian) showInfo(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	if n.Kind == chain.Bitcoin {
		return map[string]any{"chain": "test", "blocks": c.headOf(n)}, nil
	}
	return map[string]any{"blockNumber": c.headOf(n), "testnet": true}, nil
}

func (c *Custodian) showAddress(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	parse := chain.ReadKey
	if n.Kind == chain.Tron {
		parse = chain.ReadHexKey
	}
	key, err := parse(r.PathValue("xpub"))
	index, wrong := strconv.ParseInt(r.PathValue("at"), 10, 64)
	if err != nil || wrong != nil {
		return nil, invalid("The xpub or the index is not valid")
	}
	address, err := key.Address(n, index)
	if err != nil {
		return nil, invalid("The index is not valid")
	}
	return map[string]string{"address": address}, nil
}

var errNoTransaction = no{http.StatusForbidden, "tx.not.found", "Transaction not found. Possible not exists or is still pending."}

// showTransaction returns a transaction. On all chains except Bitcoin, a transaction that waits for
// its block is not found.
func (c *Custodian) showTransaction(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	m, err := c.manners(r.Context())
	if err != nil {
		return nil, err
	}
	t, err := transactions.One(r.Context(), c, "hash = $1 AND chain = $2", r.PathValue("hash"), n.ID)
	switch waiting := t.block > c.headOf(n); {
	case errors.Is(err, db.ErrNone) || err == nil && (t.isDropped || waiting && n.Kind != chain.Bitcoin):
		return nil, errNoTransaction
	case err != nil:
		return nil, err
	case waiting:
		return map[string]any{"hash": t.hash, "blockNumber": nil}, nil
	}
	switch n.Kind {
	case chain.Tron:
		return map[string]any{"txID": t.hash, "blockNumber": t.block, "ret": []any{map[string]string{"contractRet": "SUCCESS"}}}, nil
	case chain.Bitcoin:
		return map[string]any{"hash": t.hash, "blockNumber": t.block, "hex": m.padding()}, nil
	}
	return map[string]any{
		"transactionHash": t.hash, "blockNumber": t.block, "blockHash": blockHash(n, t.block), "status": true, "input": "0x" + m.padding(),
	}, nil
}

func blockHash(n chain.Network, number int64) string {
	return "0x" + books.Digest("block "+n.ID, strconv.FormatInt(number, 10))
}

type dropRequest struct {
	Hash string `json:"txHash"`
}

// dropTransaction handles POST /sandbox/crypto-drop. It simulates a reorganised chain, none of
// whose blocks contains the transaction.
func (c *Custodian) dropTransaction(ctx context.Context, req dropRequest) (any, error) {
	n, err := c.drop(ctx, req.Hash)
	if err == nil && n == 0 {
		err = books.Complaint("There is no such transaction")
	}
	return map[string]string{"status": "success", "at": clock.Text(c.Clock.Now())}, err
}
