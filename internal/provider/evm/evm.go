// Package evm is the plug for a node of an Ethereum-like network. It reads the chain block by
// block, without a vendor.
//
// A cursor holds the number and hash of the last block that was read, and of some earlier blocks.
// If the next block is not a child of the last block, the chain was reorganised: some of its blocks
// were replaced. Then the plug goes back to the last stored block that is still in the chain. It
// reports the removed blocks and continues from there.
//
// Movements are plain transfers of the native asset, and Transfer logs (ERC-20) of the listed
// tokens. If a contract sends the native asset, the block does not show the transfer. So the plug
// does not see it. Holdings finds such a transfer by the balance (docs/providers/evm.md).
//
// Each read first asks for the node's chain ID, because a URL may lead to a different chain at any
// time. Nothing of a different chain is read.
package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Config is the configuration of one network and of one of its nodes.
type Config struct {
	Network chain.Network
	URL     secret.Text // the node's URL, which may contain a key
	// Span is the largest number of blocks in one read; zero means 20. BatchSize is the largest number
	// of JSON-RPC calls in one HTTP request; zero means 50. Both halve themselves if the node refuses
	// so many. PerSecond is the number of calls that the node allows in a second; zero means 100.
	Span, BatchSize, PerSecond int
	Clock                      clock.Clock   // nil means the system's clock
	Deadline                   time.Duration // for one request; zero means 20 s
	Around                     func(http.RoundTripper) http.RoundTripper
	Meter                      *provider.Meter // counts the requests; may be nil
}

// Plug implements the interface of a custodian by reading a node of one network.
type Plug struct {
	network   chain.Network
	node      *node
	span      *size         // the number of blocks in one read
	memory    int64         // the number of last blocks of which the cursor stores each
	contracts []string      // the tokens' contracts
	filters   []chain.Bloom // the filter of a Transfer of each contract
}

var _ provider.Custodian = (*Plug)(nil)

const name = "EVM node"

// New returns a plug for one network. It sends no request.
func New(cfg Config) (*Plug, error) {
	if cfg.Network.Kind != chain.EVM {
		return nil, errors.New("evm: the network is not an Ethereum-like one")
	}
	cfg.Span, cfg.BatchSize, cfg.PerSecond = cmp.Or(cfg.Span, 20), cmp.Or(cfg.BatchSize, 50), cmp.Or(cfg.PerSecond, 100)
	cfg.Deadline, cfg.Clock = cmp.Or(cfg.Deadline, 20*time.Second), cmp.Or[clock.Clock](cfg.Clock, clock.System{})
	if cfg.Span < 1 || cfg.BatchSize < 1 || cfg.PerSecond < 1 {
		return nil, errors.New("evm: the numbers of calls and of blocks must be at least 1")
	}
	n, err := newNode(cfg)
	if err != nil {
		return nil, fmt.Errorf("evm: %w", err)
	}
	p := &Plug{network: cfg.Network, node: n, span: newSize(cfg.Span, cfg.Clock), memory: max(64, 2*cfg.Network.Confirmations)}
	for _, t := range cfg.Network.Tokens {
		filter, _ := chain.BloomOf(t.Contract, transferTopic) // package chain has checked the contract
		p.contracts, p.filters = append(p.contracts, t.Contract), append(p.filters, filter)
	}
	return p, nil
}

// Name returns the provider's display name.
func (p *Plug) Name() string { return name }

// Pace returns the network's usual time between two blocks, since nothing changes before the next
// block.
func (p *Plug) Pace() time.Duration { return time.Duration(p.network.BlockSeconds) * time.Second }

// Address derives an address from a company's public key and a derivation index.
func (p *Plug) Address(_ context.Context, n chain.Network, key chain.Key, index int64) (string, error) {
	return key.Address(n, index)
}

// Watch does nothing, since the plug reads every block and compares it with all addresses.
func (p *Plug) Watch(context.Context, chain.Network, string) (string, error) { return "", nil }

// Unwatch does nothing, since Watch creates no subscription.
func (p *Plug) Unwatch(context.Context, string) error { return nil }

// ask makes the calls, and asks for the node's chain ID in the same request. If the node is of a
// different chain, ask returns an error, and the results must not be used.
func (p *Plug) ask(ctx context.Context, calls ...call) error {
	var id quantity
	if err := p.node.ask(ctx, append([]call{{"eth_chainId", []any{}, &id}}, calls...)...); err != nil {
		return err
	}
	if int64(id) != p.network.ChainID {
		return trouble(provider.CodeWrongChain,
			fmt.Sprintf("the node is of chain %d, but %s is chain %d: nothing is read from it", id, p.network.ID, p.network.ChainID), nil)
	}
	return nil
}

// ParseNotification refuses all notifications, since a node sends none.
func (p *Plug) ParseNotification(http.Header, []byte) ([]provider.Movement, error) {
	return nil, provider.ErrForged
}

// ParseKept refuses all notifications, since a node sends none.
func (p *Plug) ParseKept([]byte) ([]provider.Movement, error) { return nil, provider.ErrUnread }

type receipt struct {
	Hash      string    `json:"transactionHash"`
	Status    *quantity `json:"status"`
	Block     quantity  `json:"blockNumber"`
	BlockHash string    `json:"blockHash"`
}

// whole reports whether the receipt has all fields that the plug reads. A receipt without a status
// must not be read as a failed transaction.
func (r *receipt) whole() bool { return r.Status != nil && r.Block > 0 && r.BlockHash != "" }

// Inclusion asks the node for the last block, and then for the receipt and for the transaction. Only a
// transaction in a block has a receipt. If the network has a tag of finality, Inclusion also asks
// for the block with this tag. A new chain does not have that block yet.
//
// The blocks come first, also within a batch, whose calls go-ethereum makes in their order. Blocks that
// come while the calls are under way then confirm nothing: the transaction may have left the chain
// with them.
func (p *Plug) Inclusion(ctx context.Context, _ chain.Network, hash string) (provider.Inclusion, error) {
	var head quantity
	var got *receipt
	var tx *transaction
	var final *block
	calls := []call{{"eth_blockNumber", []any{}, &head}}
	if p.network.Finality != "" {
		calls = append(calls, call{"eth_getBlockByNumber", []any{p.network.Finality, false}, &bare{&final}})
	}
	calls = append(calls, call{"eth_getTransactionReceipt", []any{hash}, &got}, call{"eth_getTransactionByHash", []any{hash}, &tx})
	if err := p.ask(ctx, calls...); err != nil {
		return provider.Inclusion{}, err
	}
	at := provider.Inclusion{Head: int64(head), Tagged: p.network.Finality != ""}
	if final != nil {
		at.Final = int64(final.Number)
	}
	switch {
	case got == nil:
		at.Waiting = tx != nil
		return at, nil
	case !got.whole():
		return provider.Inclusion{}, trouble(provider.CodeUnreadable, "the receipt is incomplete", nil)
	}
	at.Found, at.Reverted = true, *got.Status == 0
	at.Block, at.BlockHash = int64(got.Block), got.BlockHash
	return at, nil
}
