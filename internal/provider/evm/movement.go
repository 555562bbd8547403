package evm

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

// transferTopic is the hash of the event signature Transfer(address,address,uint256).
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

type entry struct {
	Contract  string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Hash      string   `json:"transactionHash"`
	Block     quantity `json:"blockNumber"`
	BlockHash string   `json:"blockHash"`
	Index     quantity `json:"logIndex"`
	Removed   bool     `json:"removed"`
}

// leg is one transfer between two addresses. We may watch both addresses, one of them or neither.
type leg struct {
	from, to, contract string // in the folded form of chain.Network.Fold
	units              *big.Int
	hash               string
	block              *block
	raw                any
}

// movements returns the transfers in the blocks that go to or come from our addresses.
func (p *Plug) movements(ctx context.Context, blocks []*block, ours provider.Ours) ([]provider.Movement, error) {
	legs, err := p.legs(ctx, blocks)
	if err != nil || len(legs) == 0 {
		return nil, err
	}
	watched, err := ours(ctx, p.network.ID, parties(legs))
	if err != nil {
		return nil, err
	}
	legs = slices.DeleteFunc(legs, func(l leg) bool { return !watched[l.from] && !watched[l.to] })
	reverted, err := p.reverted(ctx, legs)
	if err != nil {
		return nil, err
	}
	var out []provider.Movement
	alike := map[string]int64{}
	for _, l := range legs {
		for _, leaving := range []bool{false, true} {
			m, ok := p.movement(l, leaving, watched)
			if !ok {
				continue
			}
			// A failed transaction credited no recipient, so only its sender gets a movement.
			if m.Reverted = l.contract == "" && reverted[l.hash]; m.Reverted && !m.Out {
				continue
			}
			key := fmt.Sprint(m.Hash, m.Address, m.Contract, m.Units, leaving)
			m.Ordinal = alike[key]
			alike[key]++
			out = append(out, m)
		}
	}
	return out, nil
}

// legs returns all transfers of the native asset and of the listed tokens in the blocks. It
// requests the logs by block hash, so that they belong to exactly these blocks.
func (p *Plug) legs(ctx context.Context, blocks []*block) ([]leg, error) {
	var legs []leg
	logs := make([][]entry, len(blocks))
	var calls []call
	for i, b := range blocks {
		for _, tx := range b.Transactions {
			if tx.To == nil || tx.Value.units.Sign() == 0 {
				continue
			}
			from, to := p.network.Fold(tx.From), p.network.Fold(*tx.To)
			legs = append(legs, leg{from, to, "", &tx.Value.units, tx.Hash, b, nativeRaw{
				Hash: tx.Hash, From: from, To: to, Value: tx.Value.units.String(), Block: int64(b.Number), BlockHash: b.Hash,
			}})
		}
		if len(p.contracts) > 0 {
			filter := map[string]any{"blockHash": b.Hash, "address": p.contracts, "topics": []string{transferTopic}}
			calls = append(calls, call{"eth_getLogs", []any{filter}, &logs[i]})
		}
	}
	if err := p.node.ask(ctx, calls...); err != nil {
		return nil, err
	}
	if err := p.complete(ctx, blocks, logs); err != nil {
		return nil, err
	}
	for i, b := range blocks {
		for _, e := range logs[i] {
			l, ok, err := p.tokenLeg(e, b)
			if err != nil {
				return nil, err
			}
			if ok {
				legs = append(legs, l)
			}
		}
	}
	return legs, nil
}

// nativeRaw and tokenRaw are the node's reports without their long fields. A company receives them
// in meta.raw.
type nativeRaw struct {
	Hash      string `json:"hash"`
	From      string `json:"from"`
	To        string `json:"to"`
	Value     string `json:"value"`
	Block     int64  `json:"blockNumber"`
	BlockHash string `json:"blockHash"`
}

type tokenRaw struct {
	Contract  string   `json:"address"`
	Topics    []string `json:"topics"`
	Value     string   `json:"value"`
	Hash      string   `json:"transactionHash"`
	Index     int64    `json:"logIndex"`
	Block     int64    `json:"blockNumber"`
	BlockHash string   `json:"blockHash"`
}

// tokenLeg converts a log to a leg. It ignores the transfer of a collectible, whose log has the
// same first topic but one additional topic.
func (p *Plug) tokenLeg(e entry, b *block) (l leg, ok bool, err error) {
	if len(e.Topics) != 3 || !strings.EqualFold(e.Topics[0], transferTopic) || e.Removed || e.BlockHash != b.Hash {
		return leg{}, false, nil
	}
	if _, listed := p.network.Asset(e.Contract); !listed {
		return leg{}, false, nil
	}
	from, ok := p.addressOf(e.Topics[1])
	to, ok2 := p.addressOf(e.Topics[2])
	if !ok || !ok2 {
		return leg{}, false, trouble(provider.CodeUnreadable, "the addresses of a token's transfer cannot be read", nil)
	}
	var value amount
	if err := value.UnmarshalText([]byte(e.Data)); err != nil {
		return leg{}, false, trouble(provider.CodeUnreadable, "the amount of a token's transfer cannot be read", err)
	}
	return leg{from, to, p.network.Fold(e.Contract), &value.units, e.Hash, b, tokenRaw{
		Contract: e.Contract, Topics: e.Topics, Value: value.units.String(), Hash: e.Hash, Index: int64(e.Index),
		Block: int64(b.Number), BlockHash: b.Hash,
	}}, value.units.Sign() != 0, nil
}

// addressOf returns the address in a topic, in its folded form. It is the last 20 of the topic's 32 bytes.
func (p *Plug) addressOf(topic string) (string, bool) {
	const pad = len("0x") + 24
	digits, found := strings.CutPrefix(topic, "0x")
	if _, err := hex.DecodeString(digits); err != nil || !found || len(topic) != pad+40 {
		return "", false
	}
	return p.network.Fold("0x" + topic[pad:]), true
}

// parties returns all addresses in the legs, without duplicates.
func parties(legs []leg) []string {
	var out []string
	for _, l := range legs {
		out = append(out, l.from, l.to)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reverted returns, by transaction hash, which transactions failed. It asks only about transfers of
// the native asset, since a failed transaction has no logs.
func (p *Plug) reverted(ctx context.Context, legs []leg) (map[string]bool, error) {
	var calls []call
	receipts := make([]*receipt, len(legs))
	for i, l := range legs {
		if l.contract == "" {
			calls = append(calls, call{"eth_getTransactionReceipt", []any{l.hash}, &receipts[i]})
		}
	}
	if err := p.node.ask(ctx, calls...); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i, l := range legs {
		switch {
		case l.contract != "":
		case receipts[i] == nil || !receipts[i].whole() || receipts[i].BlockHash != l.block.Hash:
			return nil, trouble(provider.CodeUnreadable, "the chain changed while it was read", nil)
		default:
			out[l.hash] = *receipts[i].Status == 0
		}
	}
	return out, nil
}

// movement converts a leg to a Movement. The Movement belongs to the leg's sender if out is true,
// and to its recipient otherwise. If that address is not watched, movement returns false.
func (p *Plug) movement(l leg, out bool, watched map[string]bool) (provider.Movement, bool) {
	address, counter := l.to, l.from
	if out {
		address, counter = l.from, l.to
	}
	if !watched[address] {
		return provider.Movement{}, false
	}
	raw, err := json.Marshal(l.raw)
	if err != nil {
		panic(err) // cannot happen, because the value has only texts and numbers
	}
	m := provider.Movement{
		NetworkID: p.network.ID, Out: out, Units: l.units, Hash: l.hash,
		Block: int64(l.block.Number), BlockHash: l.block.Hash, Raw: raw,
	}
	m.Address, _ = p.network.Canonical(address)
	m.Counter, _ = p.network.Canonical(counter)
	if l.contract != "" {
		m.Contract, _ = p.network.Canonical(l.contract)
	}
	return m, true
}
