package evidence

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/kobo-waas/kobo/internal/db"
)

// tileSize is the number of hashes in a whole tile, and tileBits is its logarithm.
const (
	tileBits = 8
	tileSize = 1 << tileBits
)

var (
	hasher = rfc6962.DefaultHasher
	ranges = compact.RangeFactory{Hash: hasher.HashChildren}
)

// tree reads the nodes of one tree. It takes hashes from whole tiles, and computes the rest from the
// leaves. A tree remembers the tiles that it has read, so it serves one request only.
type tree struct {
	ctx     context.Context
	q       db.Querier
	company string
	size    int64 // the number of leaves that may be read
	// leaves returns the hashes of the leaves with the numbers from … to, which begin with 1.
	leaves func(from, to int64) ([][]byte, error)
	read   map[[2]int64][][]byte
}

// tile returns the hashes of a tile. A tile at the end of its level may have fewer than 256.
func (t *tree) tile(level, n int64) ([][]byte, error) {
	if known, ok := t.read[[2]int64{level, n}]; ok {
		return known, nil
	}
	row, err := findTile(t.ctx, t.q, t.company, level, n)
	var out [][]byte
	switch {
	case err == nil:
		out, err = row.list()
	case !errors.Is(err, db.ErrNone):
	case level == 0:
		out, err = t.leaves(n*tileSize+1, min(t.size, (n+1)*tileSize))
	default:
		out, err = roots(t.ctx, t.q, t.company, level-1, n*tileSize, min(t.size>>(tileBits*level), (n+1)*tileSize))
	}
	if err != nil {
		return nil, err
	}
	if t.read == nil {
		t.read = map[[2]int64][][]byte{}
	}
	t.read[[2]int64{level, n}] = out
	return out, nil
}

// node returns the hash of a node whose leaves all exist.
func (t *tree) node(id compact.NodeID) ([]byte, error) {
	level, height := int64(id.Level/tileBits), id.Level%tileBits
	first := int64(id.Index << height)
	hashes, err := t.tile(level, first/tileSize)
	if err != nil {
		return nil, err
	}
	from, to := first%tileSize, first%tileSize+1<<height
	if to > int64(len(hashes)) {
		return nil, &AlteredError{t.company, t.size} // a tile is missing
	}
	return fold(hashes[from:to]), nil
}

func (t *tree) nodes(ids []compact.NodeID) ([][]byte, error) {
	out := make([][]byte, len(ids))
	for i, id := range ids {
		var err error
		if out[i], err = t.node(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// root returns the root of the tree of the first leaves.
func (t *tree) root(size int64) ([]byte, error) {
	if size == 0 {
		return hasher.EmptyRoot(), nil
	}
	hashes, err := t.nodes(compact.RangeNodes(0, uint64(size), nil))
	if err != nil {
		return nil, err
	}
	r, err := ranges.NewRange(0, uint64(size), hashes)
	if err != nil {
		return nil, err
	}
	return r.GetRootHash(nil)
}

// inclusion proves that the tree of the first leaves contains the leaf at an index, which begins with 0.
func (t *tree) inclusion(index, size int64) ([][]byte, error) {
	nodes, err := proof.Inclusion(uint64(index), uint64(size))
	return t.prove(nodes, err)
}

// consistency proves that the tree of the first from leaves is the beginning of that of the first to.
func (t *tree) consistency(from, to int64) ([][]byte, error) {
	nodes, err := proof.Consistency(uint64(from), uint64(to))
	return t.prove(nodes, err)
}

func (t *tree) prove(nodes proof.Nodes, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	hashes, err := t.nodes(nodes.IDs)
	if err != nil {
		return nil, err
	}
	return nodes.Rehash(hashes, hasher.HashChildren)
}

// fold returns the root above hashes, whose number is a power of two.
func fold(hashes [][]byte) []byte {
	if len(hashes) == 1 {
		return hashes[0]
	}
	half := len(hashes) / 2
	return hasher.HashChildren(fold(hashes[:half]), fold(hashes[half:]))
}

// newTile returns the row of a whole tile.
func newTile(company string, level, n int64, hashes [][]byte) tile {
	all := make([]byte, 0, len(hashes)*hasher.Size())
	for _, h := range hashes {
		all = append(all, h...)
	}
	return tile{Company: company, Level: level, Tile: n, Root: encode(fold(hashes)), Hashes: encode(all)}
}

// list returns the hashes of a stored tile.
func (t tile) list() ([][]byte, error) {
	all, err := decode(t.Hashes)
	if err != nil || len(all) != tileSize*hasher.Size() {
		return nil, &AlteredError{t.Company, (t.Tile + 1) << (tileBits * (t.Level + 1))}
	}
	out := make([][]byte, tileSize)
	for i := range out {
		out[i] = all[i*hasher.Size() : (i+1)*hasher.Size()]
	}
	return out, nil
}

// grow stores the whole tiles of the first leaves that are not stored yet, at most limit tiles with
// leaves. It reports whether all are stored.
func (t *tree) grow(insert func(...db.Record) error, limit int64) (bool, error) {
	all := true
	for level := int64(0); t.size>>(tileBits*(level+1)) > 0; level++ {
		have, err := countTiles(t.ctx, t.q, t.company, level)
		if err != nil {
			return false, err
		}
		want := t.size >> (tileBits * (level + 1))
		if level == 0 && want > have+limit {
			want, all = have+limit, false
		} else if level > 0 {
			below, err := countTiles(t.ctx, t.q, t.company, level-1)
			if err != nil {
				return false, err
			}
			want = below / tileSize
		}
		for have < want {
			next := min(want, have+growTiles)
			rows, err := t.made(level, have, next)
			if err == nil {
				err = insert(rows...)
			}
			if err != nil {
				return false, err
			}
			have = next
		}
	}
	return all, nil
}

// growTiles is how many tiles one commit stores.
const growTiles = 16

// made makes the rows of whole tiles from the leaves, or from the roots of the level below.
func (t *tree) made(level, from, to int64) (rows []db.Record, err error) {
	var hashes [][]byte
	if level == 0 {
		hashes, err = t.leaves(from*tileSize+1, to*tileSize)
	} else {
		hashes, err = roots(t.ctx, t.q, t.company, level-1, from*tileSize, to*tileSize)
	}
	if err == nil && int64(len(hashes)) != (to-from)*tileSize {
		err = &AlteredError{t.company, to << (tileBits * (level + 1))} // a tile below is missing
	}
	if err != nil {
		return nil, err
	}
	for n := from; n < to; n++ {
		rows = append(rows, tiles.Record(newTile(t.company, level, n, hashes[(n-from)*tileSize:(n-from+1)*tileSize])))
	}
	return rows, nil
}

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func decode(s string) ([]byte, error) { return base64.StdEncoding.Strict().DecodeString(s) }

func encodeAll(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = encode(b)
	}
	return out
}
