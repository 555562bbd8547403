package evm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

var _ provider.Checker = (*Plug)(nil)

// Checks returns the questions that show whether the node serves what the plug needs.
func (p *Plug) Checks() []provider.Check {
	return []provider.Check{
		{Name: "chain_id", Ask: p.checkChain, Needed: true, Action: "Set the URL of a node of this network in crypto.nodes, or mend chainId in crypto.networks."},
		{Name: "head", Ask: p.checkHead, Action: "Wait until the node has caught up, or take another node. Deposits are not seen before their block is."},
		{Name: "batch", Ask: p.checkBatch, Action: "Set crypto.node_batch to the smaller number, or take a node that allows more."},
		{Name: "span", Ask: p.checkSpan, Action: "Set crypto.node_span to a smaller number, or take a node that returns the logs of a block by its hash."},
		{Name: "finality", Ask: p.checkFinality, Action: "Take a node that knows the tag, or mend the network's finality in crypto.networks."},
		{Name: "transaction_lookup", Ask: p.checkLookup, Action: "Take another node: this one reports transactions that do not exist."},
	}
}

// checkChain makes the smallest call that compares the chain ID.
func (p *Plug) checkChain(ctx context.Context) (string, error) {
	return fmt.Sprintf("chain %d, as configured", p.network.ChainID), p.ask(ctx)
}

// latest returns the number and the time of the chain's last block.
func (p *Plug) latest(ctx context.Context) (number int64, at time.Time, err error) {
	var b *struct {
		Number quantity `json:"number"`
		Time   quantity `json:"timestamp"`
	}
	err = p.node.ask(ctx, call{"eth_getBlockByNumber", []any{"latest", false}, &b})
	if err == nil && b == nil {
		err = trouble(provider.CodeUnreadable, "the last block is missing", nil)
	}
	if err != nil {
		return 0, at, err
	}
	return int64(b.Number), time.Unix(int64(b.Time), 0), nil
}

// These constants decide when the last block is too old: after this many usual times between two
// blocks, but not before the time staleAfter.
const (
	staleBlocks = 20
	staleAfter  = 2 * time.Minute
)

func (p *Plug) checkHead(ctx context.Context) (string, error) {
	number, at, err := p.latest(ctx)
	if err != nil {
		return "", err
	}
	age := p.node.clock.Now().Sub(at).Round(time.Second)
	detail := fmt.Sprintf("block %d is %s old", number, age)
	if age > max(staleAfter, staleBlocks*p.Pace()) {
		return "", errors.New(detail)
	}
	return detail, nil
}

// checkBatch sends a request with as many calls as the plug may send.
func (p *Plug) checkBatch(ctx context.Context) (string, error) {
	most := p.node.batch.now()
	calls, ids := make([]call, most), make([]quantity, most)
	for i := range calls {
		calls[i] = call{"eth_chainId", []any{}, &ids[i]}
	}
	if err := p.node.ask(ctx, calls...); err != nil {
		return "", err
	}
	if taken := p.node.batch.now(); taken < most {
		return "", fmt.Errorf("the node refuses %d calls in one request; it takes %d", most, taken)
	}
	return fmt.Sprintf("the node takes %d calls in one request", most), nil
}

// checkSpan reads as many blocks as one read of the chain has, with their logs.
func (p *Plug) checkSpan(ctx context.Context) (string, error) {
	number, _, err := p.latest(ctx)
	if err != nil {
		return "", err
	}
	span := int64(p.span.now())
	start, err := p.mark(ctx, number-span)
	if err != nil {
		return "", err
	}
	unwatched := func(context.Context, string, []string) (map[string]bool, error) { return nil, nil }
	_, err = p.Since(ctx, cursor{start}.text(), unwatched)
	return fmt.Sprintf("the node returns %d blocks with their logs", span), err
}

func (p *Plug) checkFinality(ctx context.Context) (string, error) {
	if p.network.Finality == "" {
		return "", provider.Skip("confirmations decide on this network, and no tag does")
	}
	var final *block
	err := p.node.ask(ctx, call{"eth_getBlockByNumber", []any{p.network.Finality, false}, &bare{&final}})
	if err == nil && final == nil {
		err = fmt.Errorf("the node has no block %q", p.network.Finality)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the block %q is block %d", p.network.Finality, final.Number), nil
}

func (p *Plug) checkLookup(ctx context.Context) (string, error) {
	at, err := p.Inclusion(ctx, p.network, fmt.Sprintf("0x%064x", 0))
	if err == nil && (at.Found || at.Waiting) {
		err = errors.New("the node knows a transaction that does not exist")
	}
	return "an unknown transaction is reported as not found", err
}
