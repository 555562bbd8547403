package evidence

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

const checkpointColumns = `company_id, size, root, note, leaf, state, created_at`

var (
	tiles       = db.Declare[tile]("evidence_tile", db.KeepFirst())
	checkpoints = db.Declare[Checkpoint]("evidence_checkpoint", db.Reads(checkpointColumns))
	ownLeaves   = db.Declare[ownLeaf]("evidence_leaf")
	erasedRows  = db.Declare[erased]("evidence_erased", db.KeepFirst())
)

type (
	// tile is a row of 256 hashes, and the root above them.
	tile struct {
		Company string `db:"company_id,key"`
		Level   int64  `db:"level,key"`
		Tile    int64  `db:"tile,key"`
		Root    string `db:"root"`
		Hashes  string `db:"hashes"`
	}
	// Checkpoint is a signed head of a tree.
	Checkpoint struct {
		Company   string    `db:"company_id,key"`
		Size      int64     `db:"size,key"` // the number of leaves of the tree
		Root      string    `db:"root"`     // the root of the tree in base64
		Note      string    `db:"note"`     // the signed note
		Leaf      int64     `db:"leaf"`     // the number of the checkpoint in the deployment's tree, or 0 for a checkpoint of that tree
		State     string    `db:"state,state"`
		CreatedAt time.Time `db:"created_at"`
	}
	ownLeaf struct {
		Company string `db:"company_id,key"`
		Leaf    int64  `db:"leaf,key"`
		Hash    string `db:"hash"`
	}
	erased struct {
		Company  string    `db:"company_id,key"`
		Leaf     int64     `db:"leaf,key"`
		Hash     string    `db:"hash"`
		ErasedAt time.Time `db:"erased_at"`
		MAC      string    `db:"mac"`
	}
)

// The states of a checkpoint. A company is told by an event.
const (
	signed = "SIGNED"
	told   = "TOLD"
)

func findTile(ctx context.Context, q db.Querier, company string, level, n int64) (tile, error) {
	return db.One(ctx, q, tiles.Scan, `SELECT company_id, level, tile, root, hashes FROM evidence_tile
		WHERE company_id = $1 AND level = $2 AND tile = $3`, company, level, n)
}

// tilesFrom returns stored tiles of a level, in order.
func tilesFrom(ctx context.Context, q db.Querier, company string, level, from, to int64) ([]tile, error) {
	return db.All(ctx, q, tiles.Scan, `SELECT company_id, level, tile, root, hashes FROM evidence_tile
		WHERE company_id = $1 AND level = $2 AND tile >= $3 AND tile < $4 ORDER BY tile`, company, level, from, to)
}

// roots returns the roots of stored tiles, in order.
func roots(ctx context.Context, q db.Querier, company string, level, from, to int64) ([][]byte, error) {
	return hashesOf(db.All(ctx, q, db.Value[string], `SELECT root FROM evidence_tile
		WHERE company_id = $1 AND level = $2 AND tile >= $3 AND tile < $4 ORDER BY tile`, company, level, from, to))
}

// countTiles returns the number of the tile after the last stored tile of a level.
func countTiles(ctx context.Context, q db.Querier, company string, level int64) (int64, error) {
	return db.OrZero(db.One(ctx, q, db.Value[int64], `SELECT tile + 1 FROM evidence_tile
		WHERE company_id = $1 AND level = $2 ORDER BY tile DESC LIMIT 1`, company, level))
}

// hashesOf decodes a list of hashes.
func hashesOf(texts []string, err error) ([][]byte, error) {
	out := make([][]byte, len(texts))
	for i, text := range texts {
		if err == nil {
			out[i], err = decode(text)
		}
	}
	return out, err
}

// lockTree returns the size of a tree, and locks the tree until the transaction ends.
func lockTree(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `INSERT INTO evidence_tree (company_id, size) VALUES ($1, 0)
		ON CONFLICT (company_id) DO UPDATE SET size = evidence_tree.size RETURNING size`, company)
}

func setSize(ctx context.Context, q db.Querier, company string, size int64) error {
	_, err := q.Exec(ctx, `INSERT INTO evidence_tree (company_id, size) VALUES ($1, $2)
		ON CONFLICT (company_id) DO UPDATE SET size = excluded.size`, company, size)
	return err
}

// sizes returns the sizes of the last checkpoints of several companies.
func sizes(ctx context.Context, q db.Querier, companies []string) (map[string]int64, error) {
	return db.Map[string, int64](ctx, q, `SELECT company_id, size FROM evidence_tree WHERE company_id = ANY($1)`, companies)
}

func find(ctx context.Context, q db.Querier, company string, size int64) (Checkpoint, error) {
	return db.One(ctx, q, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id = $1 AND size = $2`, company, size)
}

// latest returns the last checkpoint of a company, or the zero Checkpoint.
func latest(ctx context.Context, q db.Querier, company string) (Checkpoint, error) {
	return db.OrZero(db.One(ctx, q, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id = $1 ORDER BY size DESC LIMIT 1`, company))
}

// since returns checkpoints of a company above a size, the smallest first.
func since(ctx context.Context, q db.Querier, company string, size int64, limit int) ([]Checkpoint, error) {
	return db.All(ctx, q, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id = $1 AND size > $2 ORDER BY size LIMIT $3`, company, size, limit)
}

// untold returns the checkpoints of which several companies have no event yet.
func untold(ctx context.Context, q db.Querier, companies []string) ([]Checkpoint, error) {
	return db.All(ctx, q, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id = ANY($1) AND state = 'SIGNED' ORDER BY company_id, size`, companies)
}

// Checkpoints returns a page of the company's checkpoints, the newest first, and the total count.
func (s *Service) Checkpoints(ctx context.Context, company string, offset, limit int) ([]Checkpoint, int, error) {
	list, total, err := db.Page(ctx, s.DB, company, checkpoints.Scan, `SELECT count(*) FROM evidence_checkpoint WHERE company_id = $1`,
		`SELECT `+checkpointColumns+` FROM evidence_checkpoint WHERE company_id = $1 ORDER BY size DESC LIMIT $2 OFFSET $3`,
		limit, offset, company)
	return list, int(total), err
}

// Cursor returns the place of a checkpoint in the list of the company's checkpoints, which the size of the tree orders.
func (c Checkpoint) Cursor() string { return db.Place{At: c.Size}.Cursor() }

// CheckpointsAfter returns at most limit checkpoints of the company, the newest first. They follow the checkpoint with the cursor
// after, which is "" for the newest ones. A wrong cursor is a fault of the kind Invalid.
func (s *Service) CheckpointsAfter(ctx context.Context, company, after string, limit int) ([]Checkpoint, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, s.DB, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id = $1 AND size < $2 ORDER BY size DESC LIMIT $3`, company, at.At, limit)
}

// insertCheckpoint adds a checkpoint. It returns an AlteredError if there is one of the same size
// already, because sign makes none of a size that the tree has reached before.
func insertCheckpoint(ctx context.Context, q db.Querier, c Checkpoint) error {
	n, err := q.Exec(ctx, `INSERT INTO evidence_checkpoint (`+checkpointColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`, checkpoints.Record(c).Values...)
	if err == nil && n == 0 {
		err = &AlteredError{c.Company, c.Size}
	}
	return err
}

func insertTile(ctx context.Context, q db.Querier, row db.Record) error {
	_, err := q.Exec(ctx, `INSERT INTO evidence_tile (company_id, level, tile, root, hashes) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, row.Values...)
	return err
}

// insertLeaf adds a leaf to the deployment's tree. It returns an AlteredError if the leaf is there
// already, because only sign adds leaves, and counts them.
func insertLeaf(ctx context.Context, q db.Querier, l ownLeaf) error {
	n, err := q.Exec(ctx, `INSERT INTO evidence_leaf (company_id, leaf, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		ownLeaves.Record(l).Values...)
	if err == nil && n == 0 {
		err = &AlteredError{Deployment, l.Leaf}
	}
	return err
}

// ownHashes returns hashes of leaves of the deployment's tree, in order.
func ownHashes(ctx context.Context, q db.Querier, from, to int64) ([]ownLeaf, error) {
	return db.All(ctx, q, ownLeaves.Scan, `SELECT company_id, leaf, hash FROM evidence_leaf
		WHERE company_id = $1 AND leaf >= $2 AND leaf <= $3 ORDER BY leaf`, Deployment, from, to)
}

// Erased returns the kept hashes of erased rows, by the numbers of the rows.
func Erased(ctx context.Context, q db.Querier, company string, from, to int64) (map[int64]string, error) {
	return db.Map[int64, string](ctx, q, `SELECT leaf, hash FROM evidence_erased
		WHERE company_id = $1 AND leaf >= $2 AND leaf <= $3`, company, from, to)
}

// withLeaf returns the checkpoints of companies that are leaves of the deployment's tree, in order.
func withLeaf(ctx context.Context, q db.Querier, from, to int64) ([]Checkpoint, error) {
	return db.All(ctx, q, checkpoints.Scan, `SELECT `+checkpointColumns+` FROM evidence_checkpoint
		WHERE company_id <> $1 AND leaf >= $2 AND leaf <= $3 ORDER BY leaf`, Deployment, from, to)
}

// lost returns the number of leaves of the deployment's tree without a checkpoint of a company, and
// that number when compareLost last stored it.
func lost(ctx context.Context, q db.Querier) (now, before int64, err error) {
	// Citus refuses NOT EXISTS, because the two tables have different companies here.
	now, err = db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM (SELECT leaf FROM evidence_leaf WHERE company_id = $1
		EXCEPT SELECT leaf FROM evidence_checkpoint WHERE company_id <> $1) AS l`, Deployment)
	if err == nil {
		before, err = db.OrZero(db.One(ctx, q, db.Value[int64], `SELECT lost FROM evidence_tree WHERE company_id = $1`, Deployment))
	}
	return now, before, err
}

func setLost(ctx context.Context, q db.Querier, n int64) error {
	_, err := q.Exec(ctx, `UPDATE evidence_tree SET lost = $2 WHERE company_id = $1`, Deployment, n)
	return err
}

// nthLatest returns the time of the company's nth checkpoint, counted from the newest, or the zero time.
func nthLatest(ctx context.Context, q db.Querier, company string, n int) (time.Time, error) {
	at, err := db.OrZero(db.One(ctx, q, db.Value[int64], `SELECT created_at FROM evidence_checkpoint
		WHERE company_id = $1 ORDER BY size DESC LIMIT 1 OFFSET $2`, company, n-1))
	return clock.Time(at), err
}

// forged returns the numbers of a company's rows that are recorded as erased without the right MAC.
func forged(ctx context.Context, q db.Querier, company string, by db.Signer) (leaves []int64, err error) {
	list, err := db.All(ctx, q, erasedRows.Scan, `SELECT company_id, leaf, hash, erased_at, mac FROM evidence_erased
		WHERE company_id = $1 ORDER BY leaf`, company)
	for _, e := range list {
		if r := erasedRows.Record(e); e.MAC == "" || !by.Verify(db.Content(nil, r.Table, r.Values), e.MAC) {
			leaves = append(leaves, e.Leaf)
		}
	}
	return leaves, err
}
