package chain

import "encoding/hex"

// Bloom is the filter (a Bloom filter of 2048 bits) in the header of an Ethereum-like block. It
// holds the contract and the topics of each log in the block. A filter without an item proves that
// no log has the item. A filter with an item proves nothing, since other items may share its bits.
type Bloom [256]byte

// full is the filter in which every item is present.
var full = func() (b Bloom) {
	for i := range b {
		b[i] = 0xff
	}
	return b
}()

// Add adds an item, which is a contract's address or a topic.
func (b *Bloom) Add(item []byte) {
	sum := keccak(item)
	for i := 0; i < 6; i += 2 {
		bit := (uint(sum[i])<<8 | uint(sum[i+1])) & 2047
		b[len(b)-1-int(bit/8)] |= 1 << (bit % 8)
	}
}

// Contains reports whether the filter has all bits of a different filter.
func (b *Bloom) Contains(other Bloom) bool {
	for i := range b {
		if other[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

// IsFull reports whether all bits are set. Some networks set all bits because they keep no filter,
// so the filter states nothing.
func (b *Bloom) IsFull() bool { return *b == full }

// BloomOf returns the filter of these items, which are addresses and topics in hexadecimal form. The
// second result is false if one of them is not in this form.
func BloomOf(items ...string) (b Bloom, ok bool) {
	for _, item := range items {
		raw, ok := fromHex(item)
		if !ok {
			return b, false
		}
		b.Add(raw)
	}
	return b, true
}

// ParseBloom reads the filter of a block's header. The second result is false if the text is not a
// filter.
func ParseBloom(text string) (b Bloom, ok bool) {
	raw, ok := fromHex(text)
	if !ok || len(raw) != len(b) {
		return b, false
	}
	return Bloom(raw), true
}

// fromHex decodes a text such as 0x1f.
func fromHex(text string) ([]byte, bool) {
	if len(text) < 2 || text[:2] != "0x" {
		return nil, false
	}
	raw, err := hex.DecodeString(text[2:])
	return raw, err == nil
}
