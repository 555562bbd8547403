package evm

import (
	"context"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/provider"
)

// cursor is a list of blocks that were read, oldest first. It begins with the block before the first
// one that was read. It has each of the last blocks, and a few earlier ones. If the chain was reorganised, the plug searches this list for the last block that is
// still in the chain.
type cursor []mark

type mark struct {
	Number int64  `json:"n"`
	Hash   string `json:"h"`
}

func (c cursor) last() mark { return c[len(c)-1] }

// thin returns the cursor with its first block, with each of its last blocks, and of the blocks in
// between about one for each doubling of their age. So the cursor stays short, and a reorganisation of any depth has a common
// block in the cursor that is at most twice as deep.
func (c cursor) thin(memory int64) cursor {
	first, last := c[0].Number, c.last().Number
	return slices.DeleteFunc(c, func(m mark) bool {
		age := last - m.Number
		if age < memory || m.Number == first {
			return false
		}
		step := int64(1) << (bits.Len64(uint64(age)) - 1) // each range of ages from step to 2*step-1 has one multiple of step
		return m.Number%step != 0
	})
}

func (c cursor) text() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // cannot happen, because a mark has only numbers and texts
	}
	return string(b)
}

type block struct {
	Number       quantity      `json:"number"`
	Hash         string        `json:"hash"`
	Parent       string        `json:"parentHash"`
	Bloom        string        `json:"logsBloom"`
	Transactions []transaction `json:"transactions"`
}

type transaction struct {
	Hash  string  `json:"hash"`
	From  string  `json:"from"`
	To    *string `json:"to"` // nil if the transaction creates a contract
	Value amount  `json:"value"`
}

// Since reads the next blocks. The first call starts some blocks before the chain's end, since a
// deposit to the first address may be in one of them.
func (p *Plug) Since(ctx context.Context, text string, ours provider.Ours) (provider.Batch, error) {
	if text == "" {
		start, err := p.start(ctx)
		if err != nil {
			return provider.Batch{}, err
		}
		return provider.Batch{Cursor: cursor{start}.text(), More: true}, nil
	}
	var at cursor
	if err := json.Unmarshal([]byte(text), &at); err != nil || len(at) == 0 {
		return provider.Batch{}, errors.New("evm: the cursor cannot be read")
	}
	at, out, head, err := p.common(ctx, at)
	if err != nil {
		return provider.Batch{}, err
	}
	out.Cursor = at.text()
	to := min(head, at.last().Number+int64(p.span.now()))
	if out.More = out.GoneFrom > 0; out.More || to <= at.last().Number {
		return out, nil
	}
	blocks, err := p.blocks(ctx, at.last().Number+1, to)
	if err == nil {
		blocks = following(at.last(), blocks)
		out.Movements, err = p.movements(ctx, blocks, ours)
	}
	if err != nil {
		p.relieve(int(to-at.last().Number), err)
		return provider.Batch{}, err
	}
	for _, b := range blocks {
		at = append(at, mark{int64(b.Number), b.Hash})
	}
	at = at.thin(p.memory)
	out.Cursor = at.text()
	// If there are fewer blocks than expected, the chain changed during the read. The next call
	// handles the change.
	out.More = at.last().Number < head
	return out, nil
}

// Begin returns the number of the first block that was read. Cursors of earlier releases may have
// lost it. Then Begin returns a later one.
func (p *Plug) Begin(text string) int64 {
	var at cursor
	if json.Unmarshal([]byte(text), &at) != nil || len(at) == 0 {
		return 0
	}
	return at[0].Number + 1
}

// relieve halves the number of blocks in one read if the node has refused a call. The code of a
// node's own error is a number.
func (p *Plug) relieve(blocks int, err error) {
	if _, wrong := strconv.Atoi(provider.AsError(name, err).Code); wrong == nil {
		p.span.halve(blocks)
	}
}

func (p *Plug) start(ctx context.Context) (mark, error) {
	var head quantity
	if err := p.ask(ctx, call{"eth_blockNumber", []any{}, &head}); err != nil {
		return mark{}, err
	}
	return p.mark(ctx, int64(head)-p.memory)
}

// mark returns the number and hash of the block with this number. For a negative number it returns
// the chain's first block.
func (p *Plug) mark(ctx context.Context, number int64) (mark, error) {
	var b *block
	err := p.node.ask(ctx, call{"eth_getBlockByNumber", []any{quantity(max(number, 0)), false}, &bare{&b}})
	if err == nil && b == nil {
		err = trouble(provider.CodeUnreadable, "a block is missing", nil)
	}
	if err != nil {
		return mark{}, err
	}
	return mark{int64(b.Number), b.Hash}, nil
}

// common cuts the cursor back to the last block that is still in the chain. The batch that it returns
// states which blocks were removed. If the chain only grew, one request is enough.
func (p *Plug) common(ctx context.Context, at cursor) (kept cursor, out provider.Batch, head int64, err error) {
	var now quantity
	var last *block
	err = p.ask(ctx,
		call{"eth_blockNumber", []any{}, &now},
		call{"eth_getBlockByNumber", []any{quantity(at.last().Number), false}, &bare{&last}})
	if err != nil {
		return nil, out, 0, err
	}
	if last != nil && last.Hash == at.last().Hash {
		return at, out, int64(now), nil
	}
	if last == nil && int64(now) < at.last().Number && !p.shorter(ctx, at, int64(now)) {
		return at, out, int64(now), nil // this node does not yet have the last block that was read
	}
	found := make([]*block, len(at))
	calls := make([]call, len(at))
	for i, m := range at {
		calls[i] = call{"eth_getBlockByNumber", []any{quantity(m.Number), false}, &bare{&found[i]}}
	}
	if err := p.node.ask(ctx, calls...); err != nil {
		return nil, out, 0, err
	}
	keep := len(at)
	for keep > 0 && (found[keep-1] == nil || found[keep-1].Hash != at[keep-1].Hash) {
		keep--
		out.Gone = append(out.Gone, at[keep].Hash)
	}
	if keep == 0 {
		// The reorganisation is deeper than the whole cursor. The plug reads all blocks of the cursor
		// again, and as many blocks before them.
		start, err := p.mark(ctx, min(int64(now), at[0].Number-p.memory))
		out.GoneFrom = 1
		return cursor{start}, out, int64(now), err
	}
	if keep < len(at) && at[keep].Number > at[keep-1].Number+1 {
		out.GoneFrom = at[keep-1].Number + 1 // the cursor does not have the blocks between the two
	}
	return at[:keep], out, int64(now), nil
}

// shorter reports whether the chain was reorganised, when its last block (head) has a lower number
// than the cursor's last block. A node that lags behind also has a lower head. So shorter compares
// the chain's block head with the cursor's block of that number. The chain was reorganised if the
// two differ.
func (p *Plug) shorter(ctx context.Context, at cursor, head int64) bool {
	for _, m := range at {
		if m.Number == head {
			var b *block
			err := p.node.ask(ctx, call{"eth_getBlockByNumber", []any{quantity(head), false}, &bare{&b}})
			return err == nil && b != nil && b.Hash != m.Hash
		}
	}
	return false
}

// bare decodes a block in which the node lists only the hashes of the transactions. It ignores the
// hashes.
type bare struct{ into **block }

// UnmarshalJSON decodes a block. A block that does not exist stays nil.
func (b *bare) UnmarshalJSON(text []byte) error {
	var v *struct {
		Number quantity `json:"number"`
		Hash   string   `json:"hash"`
		Parent string   `json:"parentHash"`
	}
	if err := json.Unmarshal(text, &v); err != nil || v == nil {
		return err
	}
	*b.into = &block{Number: v.Number, Hash: v.Hash, Parent: v.Parent}
	return nil
}

func (p *Plug) blocks(ctx context.Context, from, to int64) ([]*block, error) {
	blocks := make([]*block, to-from+1)
	calls := make([]call, len(blocks))
	for i := range blocks {
		calls[i] = call{"eth_getBlockByNumber", []any{quantity(from + int64(i)), true}, &blocks[i]}
	}
	return blocks, p.node.ask(ctx, calls...)
}

// following returns the leading blocks that form a chain. Each of them is the child of the block
// before it. The first of them is the child of the cursor's last block.
func following(last mark, blocks []*block) []*block {
	for i, b := range blocks {
		if b == nil || b.Parent != last.Hash || int64(b.Number) != last.Number+1 {
			return blocks[:i]
		}
		last = mark{int64(b.Number), b.Hash}
	}
	return blocks
}
