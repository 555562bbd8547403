package sandbox

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// firstBlock is where the pretend chains stand at the beginning of time.
const firstBlock = 1_000_000

// testnet is a network by its id, or by its chain's short name.
func testnet(name string) (chain.Network, bool) {
	for _, n := range chain.Testnets() {
		if n.ID == name || n.Chain == name {
			return n, true
		}
	}
	return chain.Network{}, false
}

// headOf is the last block of a chain now: one comes with each blockSeconds of
// the clock.
func (s *Sandbox) headOf(n chain.Network) int64 {
	return firstBlock + s.clock.Now().Unix()/n.BlockSeconds
}

func pathChain(r *http.Request) (chain.Network, error) {
	n, known := testnet(r.PathValue("chain"))
	if !known {
		return n, no{http.StatusNotFound, "chain.not.found", "There is no such chain"}
	}
	return n, nil
}

func (s *Sandbox) chainHead(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	return s.headOf(n), nil
}

func (s *Sandbox) chainInfo(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	if n.Kind == chain.Bitcoin {
		return map[string]any{"chain": "test", "blocks": s.headOf(n)}, nil
	}
	return map[string]any{"blockNumber": s.headOf(n), "testnet": true}, nil
}

func (s *Sandbox) chainAddress(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	key, err := chain.ReadKey(r.PathValue("xpub"))
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

type chainTransaction struct {
	hash, chain string
	block       int64
	dropped     bool
	createdAt   int64
}

func (s *Sandbox) addTransaction(ctx context.Context, q db.Querier, t chainTransaction) error {
	_, err := q.Exec(ctx, `INSERT INTO sandbox_chain_transaction (hash, chain, block_number, dropped, created_at) VALUES ($1, $2, $3, 0, $4)`,
		t.hash, t.chain, t.block, t.createdAt)
	return err
}

var errNoTransaction = no{http.StatusForbidden, "tx.not.found", "Transaction not found. Possible not exists or is still pending."}

// chainTransaction shows a transaction. One whose block has not come yet is, on
// most chains, one that is not found.
func (s *Sandbox) chainTransaction(r *http.Request) (any, error) {
	n, err := pathChain(r)
	if err != nil {
		return nil, err
	}
	t, err := db.One(r.Context(), s.books, func(row db.Scanner) (t chainTransaction, err error) {
		return t, row.Scan(&t.hash, &t.chain, &t.block, &t.dropped, &t.createdAt)
	}, `SELECT hash, chain, block_number, dropped, created_at FROM sandbox_chain_transaction WHERE hash = $1 AND chain = $2`,
		r.PathValue("hash"), n.ID)
	switch waiting := t.block > s.headOf(n); {
	case errors.Is(err, db.ErrNone) || err == nil && (t.dropped || waiting && n.Kind != chain.Bitcoin):
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
		return map[string]any{"hash": t.hash, "blockNumber": t.block}, nil
	}
	return map[string]any{
		"transactionHash": t.hash, "blockNumber": t.block, "blockHash": blockHash(n, t.block), "status": true,
	}, nil
}

func blockHash(n chain.Network, number int64) string {
	return "0x" + digest("block "+n.ID, strconv.FormatInt(number, 10))
}

// dropTransaction is POST /sandbox/crypto-drop {txHash}: the chain is reorganised
// and the transaction is in none of its blocks any more.
func (s *Sandbox) dropTransaction(r *http.Request) (any, error) {
	var req struct {
		Hash string `json:"txHash"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	n, err := s.books.Exec(r.Context(), `UPDATE sandbox_chain_transaction SET dropped = 1 WHERE hash = $1`, req.Hash)
	if err == nil && n == 0 {
		err = complaint("There is no such transaction")
	}
	return map[string]string{"status": "success", "at": clock.Text(s.clock.Now())}, err
}
