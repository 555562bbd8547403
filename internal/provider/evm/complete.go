package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

// complete checks the logs that the node has returned for each block. A block's header has a filter
// of all its logs. If the filter has a listed token's Transfer but no log came, the filter may be
// right, or other logs may share its bits. Then complete asks for all logs of the block. They must
// fill the header's filter, or the node has returned too few. Otherwise they replace the first answer.
func (p *Plug) complete(ctx context.Context, blocks []*block, logs [][]entry) error {
	var doubted []int
	var calls []call
	all := make([][]entry, len(blocks))
	for i, b := range blocks {
		if p.doubts(b, logs[i]) {
			doubted = append(doubted, i)
			calls = append(calls, call{"eth_getLogs", []any{map[string]any{"blockHash": b.Hash}}, &all[i]})
		}
	}
	if err := p.node.ask(ctx, calls...); err != nil {
		return err
	}
	for _, i := range doubted {
		if !fills(all[i], blocks[i]) {
			return trouble(provider.CodeLogsMissing,
				fmt.Sprintf("the node returns fewer logs than block %d has, so the block is not read", blocks[i].Number), nil)
		}
		logs[i] = all[i]
	}
	return nil
}

// doubts reports whether a block's filter has a Transfer of a listed token of which no log came. A
// network that keeps no filter sets none of the bits or all, so nothing can be doubted.
func (p *Plug) doubts(b *block, logs []entry) bool {
	header, ok := chain.ParseBloom(b.Bloom)
	if !ok || header.IsFull() {
		return false
	}
	for i, contract := range p.contracts {
		came := slices.ContainsFunc(logs, func(e entry) bool { return p.network.Fold(e.Contract) == p.network.Fold(contract) })
		if !came && header.Contains(p.filters[i]) {
			return true
		}
	}
	return false
}

// fills reports whether these logs set all bits of the filter in the block's header. Some networks
// list additional logs that the header leaves out, so the logs may set more bits.
func fills(logs []entry, b *block) bool {
	var items []string
	for _, e := range logs {
		if !e.Removed && e.BlockHash == b.Hash {
			items = append(append(items, e.Contract), e.Topics...)
		}
	}
	sum, whole := chain.BloomOf(items...)
	header, ok := chain.ParseBloom(b.Bloom)
	return whole && ok && sum.Contains(header)
}
