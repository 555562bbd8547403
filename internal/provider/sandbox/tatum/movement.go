package tatum

import (
	"context"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type moveRequest struct {
	Address string          `json:"address"`
	Asset   string          `json:"asset"`
	Amount  json.RawMessage `json:"amount"`
	// To is the recipient of a withdrawal.
	To string `json:"to"`
	// Confirmed puts the transaction so deep into the chain that it counts as confirmed
	// immediately. If Confirmed is false, the transaction is in the newest block or, on Bitcoin,
	// waits for the next block. Nil means true.
	Confirmed *bool `json:"confirmed"`
	// Duplicate is true for one additional copy of the notice, or the number of additional copies.
	Duplicate json.RawMessage `json:"duplicate"`
}

// movement is one transfer on a simulated chain.
type movement struct {
	network   chain.Network
	asset     chain.Asset
	units     *big.Int
	address   string // the client's address
	counter   string
	out       bool
	confirmed bool
	copies    int64
}

// deposit handles POST /sandbox/crypto-deposit, in which a third party sends an asset to an address
// of the client.
func (c *Custodian) deposit(ctx context.Context, req moveRequest) (any, error) {
	return c.move(ctx, req, false)
}

// withdraw handles POST /sandbox/crypto-withdrawal, in which the client spends from its address.
func (c *Custodian) withdraw(ctx context.Context, req moveRequest) (any, error) {
	return c.move(ctx, req, true)
}

func (c *Custodian) move(ctx context.Context, req moveRequest, out bool) (any, error) {
	watched, err := subscriptions.All(ctx, c, "lower(address) = lower($1) ORDER BY created_at", req.Address)
	if err != nil {
		return nil, err
	}
	if len(watched) == 0 {
		return nil, books.Complaint("Nobody watches this address")
	}
	m, err := req.read(watched[0], out)
	if err != nil {
		return nil, err
	}
	hash, block := m.newHash(), c.headOf(m.network)
	switch {
	case m.confirmed:
		block -= m.network.Confirmations // so deep in the chain that it counts as confirmed
	case m.network.Kind == chain.Bitcoin:
		block++ // the transaction waits for the next block
	}
	err = c.Tx(ctx, func(q db.Querier) error { return c.write(ctx, q, watched, m, hash, block) })
	if err != nil {
		return nil, err
	}
	c.Nudge()
	return map[string]any{"status": "success", "data": map[string]any{
		"txHash": hash, "blockNumber": block, "chain": m.network.ID, "address": m.address, "asset": m.asset.Symbol,
		"amount": chain.FormatUnits(m.units, m.asset.Decimals), "notices": m.copies,
	}}, nil
}

// read checks a request against the network of the address, and returns the movement.
func (r moveRequest) read(to subscription, out bool) (movement, error) {
	n, _ := testnet(to.chain)
	m := movement{network: n, address: to.address, out: out, confirmed: r.Confirmed == nil || *r.Confirmed, copies: 1}
	var known bool
	if m.asset, known = n.BySymbol(r.Asset); !known {
		// Anybody can create a token, so any contract is accepted, whether or not it is listed.
		contract, ok := n.Canonical(r.Asset)
		if !ok || n.Kind == chain.Bitcoin {
			return m, books.Complaint(`"asset" must be an asset of ` + n.ID + " or a token's contract on it")
		}
		m.asset = chain.Asset{Symbol: "USDT", Contract: contract, Decimals: 18}
	}
	amount := strings.Trim(string(r.Amount), `"`)
	var err error
	if m.units, err = chain.ParseUnits(amount, m.asset.Decimals); err != nil || m.units.Sign() <= 0 {
		return m, books.Complaint(`"amount" must be greater than 0, with no more decimals than the asset has`)
	}
	m.counter = m.stranger()
	if r.To != "" {
		if m.counter, known = n.Canonical(r.To); !known {
			return m, books.Complaint(`"to" must be an address of ` + n.ID)
		}
	}
	more, err := books.Copies(r.Duplicate)
	m.copies += more
	return m, err
}

// stranger returns an address of a third party, which does not belong to the client.
func (m movement) stranger() string {
	key, err := chain.ReadKey(chain.PublicTestKeys[chain.EVM])
	if err != nil {
		panic(err) // cannot happen, because the key is part of the program
	}
	address, err := key.Address(m.network, 4242)
	if err != nil {
		panic(err)
	}
	return address
}

func (m movement) newHash() string {
	hash := books.Digest("transaction", id.New())
	if m.network.Kind == chain.EVM {
		return "0x" + hash
	}
	return hash
}

// write puts a movement into the chain and writes its notifications. For each subscription it
// writes the requested number of copies. On Bitcoin a transaction may first wait for a block. Then
// a second notification is sent when the block arrives.
func (c *Custodian) write(ctx context.Context, q db.Querier, to []subscription, m movement, hash string, block int64) error {
	now := c.Now()
	manners, err := c.manners(ctx)
	if err != nil {
		return err
	}
	if err := transactions.Insert(ctx, q, transaction{hash: hash, chain: m.network.ID, block: block, createdAt: now}); err != nil {
		return err
	}
	waiting := block > c.headOf(m.network)
	for _, sub := range to {
		if err := announce(ctx, q, sub, manners.distort(m.payload(sub, hash, block, waiting)), now, now, m.copies); err != nil {
			return err
		}
		if waiting {
			comes := now + m.network.BlockSeconds*1_000_000
			if err := announce(ctx, q, sub, manners.distort(m.payload(sub, hash, block, false)), now, comes, 1); err != nil {
				return err
			}
		}
		if m.out { // Tatum reports the fee separately from the withdrawal
			fee := map[string]any{
				"address": m.address, "amount": "-0.000021", "asset": m.network.NativeAsset, "blockNumber": block, "txId": hash,
				"type": "fee", "chain": m.network.ID, "subscriptionType": sub.kind,
			}
			if err := announce(ctx, q, sub, fee, now, now, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// payload returns the body of a notification in the legacy template.
func (m movement) payload(sub subscription, hash string, block int64, mempool bool) map[string]any {
	amount := chain.FormatUnits(m.units, m.asset.Decimals)
	if m.out {
		amount = "-" + amount
	}
	p := map[string]any{
		"address": m.address, "amount": amount, "asset": m.asset.Symbol, "blockNumber": block, "txId": hash,
		"type": "native", "chain": m.network.ID, "subscriptionType": sub.kind, "subscriptionId": sub.id,
	}
	if m.network.Kind != chain.Bitcoin {
		p["counterAddress"] = m.counter
	}
	if m.network.Kind == chain.EVM {
		p["address"] = strings.ToLower(m.address) // Tatum sends these addresses in lower case
	}
	if m.asset.Contract != "" {
		p["type"], p["contractAddress"], p["tokenId"] = "token", m.asset.Contract, m.units.String()
		p["asset"] = m.asset.Contract
		if m.network.Kind == chain.Tron {
			p["type"], p["asset"] = "trc20", m.asset.Symbol
		}
	}
	if mempool {
		p["mempool"], p["blockNumber"] = true, nil
	}
	return p
}
