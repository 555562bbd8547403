package evidence

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/transparency-dev/merkle/compact"
	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// most is the maximum number of findings about a tree.
const most = 20

// check computes a tree again from all its leaves, and compares it with tiles and checkpoints.
type check struct {
	ctx     context.Context
	q       db.Querier
	company string
	name    string // of the deployment
	known   []note.Verifier
	signer  db.Signer
	size    int64
	// removed is the number of events that kobo archive has removed, and whose leaves the tree has.
	removed int64
	rows    *Tally

	tree    *compact.Range
	next    []Checkpoint // the following checkpoints, the smallest first
	missing int64
	ended   bool // a whole step has neither rows nor tiles, so the last number of the company is wrong
	wrongs  []string
}

// Verify computes the tree of a company again from its rows. It returns the differences from the stored
// tiles and from the checkpoints. Removed is the number of events with leaves that kobo archive has
// removed. The company may be "", or Deployment for the deployment's own tree. If a pass over the rows
// has made a Tally, Verify does not read again the rows of tiles that agree with it. The rows may have
// changed since that pass. So if there is a difference, Verify begins again without the Tally. The Tally
// may be nil.
func (s *Service) Verify(ctx context.Context, q db.Querier, company string, removed int64, rows *Tally) ([]string, error) {
	name, err := s.Name(ctx)
	if err != nil {
		return nil, err
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return nil, err
	}
	c := &check{ctx: ctx, q: q, company: company, name: name, signer: s.DB.Signer(), removed: removed, rows: rows, tree: ranges.NewEmptyRange(0)}
	for _, one := range by {
		c.known = append(c.known, one.(signer).Verifier)
	}
	if company == Deployment {
		size, err := sizes(ctx, q, []string{Deployment})
		if err != nil {
			return nil, err
		}
		c.size = size[Deployment]
	} else if c.size, err = ledger.Leaves(ctx, q, company); err != nil {
		return nil, err
	}
	if err = c.run(); err == nil && len(c.wrongs) > 0 && rows != nil {
		return s.Verify(ctx, q, company, removed, nil)
	}
	return c.wrongs, err
}

func (c *check) wrong(format string, args ...any) {
	if len(c.wrongs) < most {
		c.wrongs = append(c.wrongs, fmt.Sprintf("%s: tree: %s", c.company, fmt.Sprintf(format, args...)))
	}
}

// run compares the whole tree. It reads the leaves of several tiles at once.
func (c *check) run() error {
	last, err := latest(c.ctx, c.q, c.company)
	if err != nil {
		return err
	}
	if last.Size > c.size || c.company == Deployment && last.Size != c.size {
		c.wrong("there are %d rows, and the last checkpoint covers %d", c.size, last.Size)
	}
	for from := int64(0); from < c.size && !c.ended; from += growTiles * tileSize {
		if err := c.leaves(from, min(c.size, from+growTiles*tileSize), last.Size); err != nil {
			return err
		}
	}
	if c.removed > 0 && c.missing != c.removed {
		c.wrong("%d rows are missing, and %d events are archived", c.missing, c.removed)
	}
	if err := c.beyond(); err != nil {
		return err
	}
	if err := c.erased(); err != nil {
		return err
	}
	if err := c.upper(); err != nil {
		return err
	}
	if last.Size == 0 {
		return nil
	}
	if _, err := open(last.Note, c.known...); err != nil {
		c.wrong("checkpoint %d: %v", last.Size, err)
	}
	return nil
}

// leaves appends the leaves after from, up to to, and compares them with their tiles.
func (c *check) leaves(from, to, covered int64) error {
	stored, err := tilesFrom(c.ctx, c.q, c.company, 0, from/tileSize, (to+tileSize-1)/tileSize)
	if err != nil {
		return err
	}
	known := map[int64][][]byte{}
	for _, t := range stored {
		if known[t.Tile], err = t.list(); err != nil || encode(fold(known[t.Tile])) != t.Root {
			c.wrong("tile %d is damaged", t.Tile)
			known[t.Tile] = nil
		}
	}
	hashes, err := c.hashes(from, to, known)
	if err == nil && c.company == Deployment {
		err = c.anchors(from, hashes)
	}
	if err != nil {
		return err
	}
	if to-from == growTiles*tileSize && len(stored) == 0 && !slices.ContainsFunc(hashes, func(hash []byte) bool { return hash != nil }) {
		c.wrong("the rows %d to %d are missing", from+1, c.size)
		c.ended = true
		return nil
	}
	for i, hash := range hashes {
		n := from + int64(i)
		t := known[n/tileSize]
		switch {
		case t == nil && n%tileSize == 0 && n+tileSize <= covered:
			c.wrong("tile %d is missing", n/tileSize)
		case t != nil && hash == nil:
			c.missing++
			hash = t[n%tileSize]
			if c.removed == 0 {
				c.wrong("row %d is missing", n+1)
			}
		case t != nil && !bytes.Equal(hash, t[n%tileSize]):
			c.wrong("row %d was changed", n+1)
		}
		if hash == nil {
			c.wrong("row %d is missing", n+1)
			hash = hasher.EmptyRoot()
		}
		if err := c.tree.Append(hash, nil); err != nil {
			return err
		}
		if err := c.compare(n + 1); err != nil {
			return err
		}
	}
	return nil
}

// hashes returns the hashes of the leaves after from, up to to. A missing row has none. It reads the rows
// from the first to the last tile that does not agree with the Tally.
func (c *check) hashes(from, to int64, known map[int64][][]byte) ([][]byte, error) {
	out, first, last := make([][]byte, to-from), to, to
	for n := from / tileSize; n*tileSize < to; n++ {
		if known[n] != nil && c.rows.has(n, known[n]) {
			copy(out[n*tileSize-from:], known[n])
		} else {
			first, last = min(first, n*tileSize), min(to, (n+1)*tileSize)
		}
	}
	if first == to {
		return out, nil
	}
	clear(out[first-from : last-from])
	return out, eachLeaf(c.ctx, c.q, c.company, first+1, last, func(leaf int64, hash []byte) error {
		if out[leaf-1-from] != nil {
			c.wrong("two rows have the number %d", leaf)
		}
		out[leaf-1-from] = hash
		return nil
	})
}

// compare compares the root of the first leaves with the checkpoint of that size, if there is one.
func (c *check) compare(size int64) (err error) {
	if c.next == nil || len(c.next) > 0 && c.next[0].Size < size {
		if c.next, err = since(c.ctx, c.q, c.company, size-1, 1000); err != nil {
			return err
		}
		if c.next == nil {
			c.next = []Checkpoint{}
		}
	}
	if len(c.next) == 0 || c.next[0].Size != size {
		return nil
	}
	p := c.next[0]
	if c.next = c.next[1:]; len(c.next) == 0 {
		c.next = nil // the next page is read
	}
	root, err := c.tree.GetRootHash(nil)
	if err != nil {
		return err
	}
	if encode(root) != p.Root {
		c.wrong("the first %d rows do not have the root of their checkpoint", size)
		return nil
	}
	h := newHead(origin(c.name, c.company), size, root, p.CreatedAt)
	if len(p.Note) < len(h.text) || p.Note[:len(h.text)] != h.text {
		c.wrong("checkpoint %d was changed", size)
		return nil
	}
	if c.company == Deployment {
		return nil
	}
	list, err := ownHashes(c.ctx, c.q, p.Leaf, p.Leaf)
	if err == nil && (len(list) != 1 || list[0].Hash != encode(hasher.HashLeaf([]byte(h.text)))) {
		c.wrong("checkpoint %d is not in the deployment's tree", size)
	}
	return err
}

// beyond finds rows whose numbers are above the last number of the company.
func (c *check) beyond() error {
	const all = 1<<62 - 1
	return eachLeaf(c.ctx, c.q, c.company, c.size+1, all, func(leaf int64, _ []byte) error {
		c.wrong("row %d is after the last row, %d", leaf, c.size)
		return nil
	})
}

// erased finds rows that are recorded as erased without the evidence key.
func (c *check) erased() error {
	leaves, err := forged(c.ctx, c.q, c.company, c.signer)
	for _, leaf := range leaves {
		c.wrong("row %d is recorded as erased without the right MAC", leaf)
	}
	return err
}

// anchors finds leaves of the deployment's tree without exactly one checkpoint of a company. A company
// that was rolled back or removed whole leaves such leaves. The hashes are those after the leaf from.
func (c *check) anchors(from int64, hashes [][]byte) error {
	list, err := withLeaf(c.ctx, c.q, from+1, from+int64(len(hashes)))
	if err != nil {
		return err
	}
	for i, hash := range hashes {
		leaf, count := from+int64(i)+1, 0
		for ; len(list) > 0 && list[0].Leaf == leaf; list = list[1:] {
			root, err := decode(list[0].Root)
			h := newHead(origin(c.name, list[0].Company), list[0].Size, root, list[0].CreatedAt)
			if count++; err != nil || hash != nil && !bytes.Equal(hash, hasher.HashLeaf([]byte(h.text))) {
				c.wrong("row %d is not checkpoint %d of %q, which names it", leaf, list[0].Size, list[0].Company)
			}
		}
		if count != 1 {
			c.wrong("row %d has %d checkpoints instead of one: a company was rolled back or removed", leaf, count)
		}
	}
	return nil
}

// upper compares the tiles above level 0 with the roots below them.
func (c *check) upper() error {
	for level := int64(1); ; level++ {
		count, err := countTiles(c.ctx, c.q, c.company, level)
		if err != nil || count == 0 {
			return err
		}
		for n := range count {
			below, err := roots(c.ctx, c.q, c.company, level-1, n*tileSize, (n+1)*tileSize)
			if err != nil {
				return err
			}
			stored, err := db.OrZero(findTile(c.ctx, c.q, c.company, level, n))
			if err != nil {
				return err
			}
			if len(below) != tileSize || newTile(c.company, level, n, below) != stored {
				c.wrong("tile %d of level %d is damaged", n, level)
			}
		}
	}
}

// VerifyPlace compares the database with all checkpoints of the second place, and returns the
// differences. A restore explains the files that cover more than a later one, if the database continues
// that later file: Kobo wrote it when it closed API access. VerifyPlace returns them apart.
func (s *Service) VerifyPlace(ctx context.Context, q db.Querier) (wrongs, explained []string, err error) {
	name, err := s.Name(ctx)
	if err != nil || s.Folder == "" {
		return nil, nil, err
	}
	own, foreign, err := s.kept(name)
	if err != nil {
		return nil, nil, err
	}
	if foreign > 0 {
		wrongs = append(wrongs, s.ofOther(foreign))
	}
	size, err := sizes(ctx, q, []string{Deployment})
	if err != nil {
		return nil, nil, err
	}
	if len(own) == 0 && size[Deployment] > 0 {
		wrongs = append(wrongs, s.empty(size[Deployment]))
	}
	back := int64(math.MaxInt64) // the smallest checkpoint of a later file that the database continues
	for _, path := range slices.Backward(own) {
		why, covers, err := s.compare(ctx, q, name, path)
		switch {
		case err != nil:
			return wrongs, explained, err
		case why == "":
			back = min(back, covers)
		case covers > back:
			explained = append(explained, fmt.Sprintf("%s covers %d checkpoints, and a later file there covers %d: a restore has undone the others", path, covers, back))
		case len(wrongs) < most:
			wrongs = append(wrongs, why)
		}
	}
	return wrongs, explained, nil
}

// Erasing returns the row that keeps the hash of a row of evidence. The unit that erases a person in
// the row also inserts this row. Then the proofs of all other rows stay valid. The row has a MAC, so
// nobody can record a row as erased without the evidence key. A checkpoint covers the row before that,
// so nobody can replace the kept hash unseen.
func (s *Service) Erasing(ctx context.Context, company string, leaf int64) (db.Record, error) {
	c, err := s.OnDemand(ctx, company, leaf)
	if err == nil && c.Size < leaf {
		err = errGrowing
	}
	if err != nil {
		return db.Record{}, err
	}
	l, err := s.leaf(ctx, company, leaf)
	r := erasedRows.Record(erased{Company: company, Leaf: leaf, Hash: l.Hash, ErasedAt: s.Clock.Now()})
	return r.Put("mac", s.DB.Signer().MAC(db.Content(nil, r.Table, r.Values))), err
}

// Covered returns the number of a company's first rows whose hashes are in whole tiles below a
// checkpoint. Their hashes stay when the rows are removed.
func (s *Service) Covered(ctx context.Context, company string) (int64, error) {
	count, err := countTiles(ctx, s.DB, company, 0)
	if err != nil {
		return 0, err
	}
	last, err := latest(ctx, s.DB, company)
	return min(count*tileSize, last.Size), err
}
