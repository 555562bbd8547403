package sandbox

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

type cryptoRequest struct {
	Address string          `json:"address"`
	Asset   string          `json:"asset"`
	Amount  json.RawMessage `json:"amount"`
	// To is where a withdrawal goes.
	To string `json:"to"`
	// Confirmed: so deep in the chain that it counts at once; otherwise it was only
	// just seen. It is true when nothing is said.
	Confirmed *bool `json:"confirmed"`
	// Duplicate is true, or how many more times the same notice is sent.
	Duplicate json.RawMessage `json:"duplicate"`
}

// transferOnChain is one movement on a pretend chain.
type transferOnChain struct {
	network   chain.Network
	asset     chain.Asset
	units     *big.Int
	address   string // the client's
	counter   string
	out       bool
	confirmed bool
	copies    int64
}

// cryptoDeposit is POST /sandbox/crypto-deposit {address, asset, amount,
// confirmed?, duplicate?}: somebody sends an asset to an address of the client.
func (s *Sandbox) cryptoDeposit(r *http.Request) (any, error) { return s.cryptoByHand(r, false) }

// cryptoWithdrawal is POST /sandbox/crypto-withdrawal, with "to": the client
// itself spends what is on its address.
func (s *Sandbox) cryptoWithdrawal(r *http.Request) (any, error) { return s.cryptoByHand(r, true) }

func (s *Sandbox) cryptoByHand(r *http.Request, out bool) (any, error) {
	var req cryptoRequest
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	watched, err := db.All(r.Context(), s.books, scanSubscription,
		`SELECT id, type, chain, address, url FROM sandbox_subscription WHERE lower(address) = lower($1) ORDER BY created_at`, req.Address)
	if err != nil {
		return nil, err
	}
	if len(watched) == 0 {
		return nil, complaint("Nobody watches this address")
	}
	t, err := req.read(watched[0], out)
	if err != nil {
		return nil, err
	}
	hash := t.newHash()
	block := s.headOf(t.network)
	switch {
	case t.confirmed:
		block -= t.network.Confirmations // deep enough
	case t.network.Kind == chain.Bitcoin:
		block++ // it waits for the next one
	}
	err = s.books.Tx(r.Context(), func(q db.Querier) error { return s.intoChain(r.Context(), q, watched, t, hash, block) })
	if err != nil {
		return nil, err
	}
	s.nudge()
	return map[string]any{"status": "success", "data": map[string]any{
		"txHash": hash, "blockNumber": block, "chain": t.network.ID, "address": t.address, "asset": t.asset.Symbol,
		"amount": chain.FormatUnits(t.units, t.asset.Decimals), "notices": t.copies,
	}}, nil
}

// read checks what is to be sent.
func (c cryptoRequest) read(to subscription, out bool) (transferOnChain, error) {
	n, _ := testnet(to.chain)
	t := transferOnChain{network: n, address: to.address, out: out, confirmed: c.Confirmed == nil || *c.Confirmed, copies: 1}
	var known bool
	if t.asset, known = n.BySymbol(c.Asset); !known {
		// Anybody can make a token: one by its contract, listed or not.
		contract, ok := n.Canonical(c.Asset)
		if !ok || n.Kind == chain.Bitcoin {
			return t, complaint(`"asset" must be an asset of ` + n.ID + " or a token's contract on it")
		}
		t.asset = chain.Asset{Symbol: "USDT", Contract: contract, Decimals: 18}
	}
	amount := strings.Trim(string(c.Amount), `"`)
	var err error
	if t.units, err = chain.ParseUnits(amount, t.asset.Decimals); err != nil || t.units.Sign() <= 0 {
		return t, complaint(`"amount" must be greater than 0, with no more decimals than the asset has`)
	}
	t.counter = t.stranger()
	if c.To != "" {
		if t.counter, known = n.Canonical(c.To); !known {
			return t, complaint(`"to" must be an address of ` + n.ID)
		}
	}
	more, err := again(c.Duplicate)
	t.copies += int64(more)
	return t, err
}

// stranger is an address of somebody else.
func (t transferOnChain) stranger() string {
	key, err := chain.ReadKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		panic(err) // it is part of the program
	}
	address, err := key.Address(t.network, 4242)
	if err != nil {
		panic(err)
	}
	return address
}

func (t transferOnChain) newHash() string {
	hash := digest("transaction", id.New())
	if t.network.Kind == chain.EVM {
		return "0x" + hash
	}
	return hash
}

// intoChain puts the transfer into the chain and writes down what is to be told: to
// every subscription, as often as asked for. On Bitcoin one that waits for its
// block is told again with the block.
func (s *Sandbox) intoChain(ctx context.Context, q db.Querier, to []subscription, t transferOnChain, hash string, block int64) error {
	now := clock.Micros(s.clock.Now())
	if err := s.addTransaction(ctx, q, chainTransaction{hash: hash, chain: t.network.ID, block: block, createdAt: now}); err != nil {
		return err
	}
	waiting := block > s.headOf(t.network)
	for _, sub := range to {
		for range t.copies {
			if err := tell(ctx, q, sub, t.payload(sub, hash, block, waiting), now, now); err != nil {
				return err
			}
		}
		if waiting {
			comes := now + t.network.BlockSeconds*1_000_000
			if err := tell(ctx, q, sub, t.payload(sub, hash, block, false), now, comes); err != nil {
				return err
			}
		}
		if t.out { // beside what left, Tatum tells what it cost
			fee := map[string]any{
				"address": t.address, "amount": "-0.000021", "asset": t.network.NativeAsset, "blockNumber": block, "txId": hash,
				"type": "fee", "chain": t.network.ID, "subscriptionType": sub.kind,
			}
			if err := tell(ctx, q, sub, fee, now, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// payload is the notification, in the legacy template.
func (t transferOnChain) payload(sub subscription, hash string, block int64, mempool bool) map[string]any {
	amount := chain.FormatUnits(t.units, t.asset.Decimals)
	if t.out {
		amount = "-" + amount
	}
	p := map[string]any{
		"address": t.address, "amount": amount, "asset": t.asset.Symbol, "blockNumber": block, "txId": hash,
		"type": "native", "chain": t.network.ID, "subscriptionType": sub.kind, "subscriptionId": sub.id,
	}
	if t.network.Kind != chain.Bitcoin {
		p["counterAddress"] = t.counter
	}
	if t.network.Kind == chain.EVM {
		p["address"] = strings.ToLower(t.address) // as they come
	}
	if t.asset.Contract != "" {
		p["type"], p["contractAddress"], p["tokenId"] = "token", t.asset.Contract, t.units.String()
		p["asset"] = t.asset.Contract
		if t.network.Kind == chain.Tron {
			p["type"], p["asset"] = "trc20", t.asset.Symbol
		}
	}
	if mempool {
		p["mempool"], p["blockNumber"] = true, nil
	}
	return p
}
