package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
)

// seed is random, so nobody can choose rows with the same sum.
var seed = maphash.MakeSeed()

// Tally sums up the leaves of a tree by tiles, in any order. A pass over all rows of evidence that reads
// them for other reasons adds each of them. Verify then reads only the rows of tiles whose sum differs.
type Tally struct {
	size   int64
	sums   []uint64
	buffer []byte
}

// NewTally returns an empty Tally for the rows of a company up to a number.
func NewTally(last int64) *Tally {
	return &Tally{size: last}
}

// Add adds a row by its number, its MAC and its content (db.Content). The MAC must be right, because a
// forged number could be so high that the sums do not fit into the memory. Add ignores a row without a
// number, and a row after the last one.
func (t *Tally) Add(leaf int64, mac string, content []byte) {
	if leaf < 1 || leaf > t.size {
		return
	}
	t.buffer = append(append(append(t.buffer[:0], 0), mac...), content...)
	sum := sha256.Sum256(t.buffer) // the hash of the leaf, as leafHash computes it
	at := (leaf - 1) / tileSize
	if missing := int(at) + 1 - len(t.sums); missing > 0 {
		t.sums = append(t.sums, make([]uint64, missing)...)
	}
	t.sums[at] += t.hash(leaf, sum[:])
}

func (t *Tally) hash(leaf int64, hash []byte) uint64 {
	t.buffer = append(binary.BigEndian.AppendUint64(t.buffer[:0], uint64(leaf)), hash...)
	return maphash.Bytes(seed, t.buffer)
}

// Join adds all rows of another Tally of the same company.
func (t *Tally) Join(other *Tally) {
	t.size = max(t.size, other.size)
	if missing := len(other.sums) - len(t.sums); missing > 0 {
		t.sums = append(t.sums, make([]uint64, missing)...)
	}
	for i, sum := range other.sums {
		t.sums[i] += sum
	}
}

// has reports whether the added rows of a whole tile have exactly the given hashes.
func (t *Tally) has(n int64, hashes [][]byte) bool {
	if t == nil || n >= int64(len(t.sums)) {
		return false
	}
	var sum uint64
	for i, hash := range hashes {
		sum += t.hash(n*tileSize+int64(i)+1, hash)
	}
	return sum == t.sums[n]
}
