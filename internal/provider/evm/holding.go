package evm

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/provider"
)

// deepest is the largest age of the block in which Holdings asks for balances. Most nodes forget the
// balances of older blocks (go-ethereum those of 128 blocks ago).
const deepest = 32

// Holdings asks for what addresses held in a block that was read some time ago. A reorganisation is
// not likely to replace that block any more. While no block is that old, there are no holdings.
func (p *Plug) Holdings(ctx context.Context, _ chain.Network, text string, addresses []string) (number int64, of []provider.Holding, err error) {
	var at cursor
	if text == "" {
		return 0, nil, nil
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil || len(at) == 0 {
		return 0, nil, errors.New("evm: the cursor cannot be read")
	}
	back := len(at) - 1
	for age := min(p.network.Confirmations, deepest); back > 0 && at.last().Number-at[back].Number < age; {
		back--
	}
	if back == 0 {
		return 0, nil, nil // the reading has only begun
	}
	var now *block
	calls := []call{{"eth_getBlockByNumber", []any{quantity(at[back].Number), false}, &bare{&now}}}
	held, sent := make([]*amount, len(addresses)), make([]*quantity, len(addresses))
	for i, a := range addresses {
		calls = append(calls, call{"eth_getBalance", []any{a, quantity(at[back].Number)}, &held[i]},
			call{"eth_getTransactionCount", []any{a, quantity(at[back].Number)}, &sent[i]})
	}
	if err := p.ask(ctx, calls...); err != nil {
		return 0, nil, err
	}
	if now == nil || now.Hash != at[back].Hash {
		return 0, nil, trouble(provider.CodeUnreadable, "the chain changed while it was read", nil)
	}
	for i := range addresses {
		if held[i] == nil || sent[i] == nil {
			return 0, nil, trouble(provider.CodeUnreadable, "a balance is missing", nil)
		}
		of = append(of, provider.Holding{Units: &held[i].units, Sent: int64(*sent[i])})
	}
	return at[back].Number, of, nil
}
