// Package evidence makes changes of history visible to those who keep a small proof outside the
// database.
//
// The rows of evidence of a company are its transfers, events and audit lines. They are the leaves of
// a Merkle tree (RFC 6962), in the order of their numbers. Only whole tiles of 256 hashes are stored.
// The other hashes are computed from the rows.
//
// A checkpoint is the root and the size of a tree in a signed note. Each checkpoint of a company is a
// leaf of the deployment's own tree. So one checkpoint of the deployment covers the trees of all
// companies, and shows only hashes. It is also written to a second place, outside the database.
//
// The data of a leaf is the MAC of the row and the canonical content of the row. The MAC needs a
// secret key. So a hash reveals nothing about an erased row, although its content may be guessed.
package evidence

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	_ "github.com/kobo-waas/kobo/internal/operator" // its audit lines are evidence (db.EvidenceTables)
)

// Deployment is the company of the deployment's own tree.
const Deployment = "deployment"

// Config is what the service needs.
type Config struct {
	DB     *db.DB
	Book   *ledger.Book
	Events *event.Service
	Clock  clock.Clock
	Log    *slog.Logger
	// Keys sign checkpoints. All keys sign each checkpoint, so a pinned key stays valid when a new
	// key comes first.
	Keys []ed25519.PrivateKey
	// Name is the name of the deployment. It is a part of the origin of each checkpoint.
	Name func(ctx context.Context) (string, error)
	// Folder is the second place. It is "" if there is none.
	Folder string
	// Close closes API access in a transaction, and stores the reason.
	Close func(ctx context.Context, q db.Querier, reason string) error
	// Hidden reports whether companies do not see a ledger account.
	Hidden func(account string) bool
}

// Service makes checkpoints and proofs.
type Service struct {
	Config
	limit    int64         // how many tiles a request may store
	perDay   int           // how many checkpoints a company has in a day before it gets none on demand
	patience time.Duration // roundLimit; tests set it
	atOnce   int           // companiesAtOnce; tests set it
	round    round         // only the one SignJob uses it
	changed  prometheus.Gauge
	placed   atomic.Int64 // when the newest checkpoint was last in the second place, in microseconds
	rounded  atomic.Int64 // when the last round began that reached all companies, in microseconds
	link     func(old, path string) error
}

// New returns a service.
func New(c Config) *Service {
	s := &Service{Config: c, limit: 100, perDay: 500, patience: roundLimit, atOnce: companiesAtOnce, changed: newChanged(), link: os.Link}
	s.placed.Store(c.Clock.Now().UnixMicro())
	s.rounded.Store(c.Clock.Now().UnixMicro())
	return s
}

// MissingError means that a row of evidence is not in the database.
type MissingError struct {
	Company string
	Leaf    int64
}

// Error describes the missing row in words.
func (e *MissingError) Error() string {
	return fmt.Sprintf("evidence: row %d of %q is missing", e.Leaf, e.Company)
}

// tree returns a tree as it is in a database or a snapshot.
func (s *Service) tree(ctx context.Context, q db.Querier, company string, size int64) *tree {
	t := &tree{ctx: ctx, q: q, company: company, size: size}
	t.leaves = func(from, to int64) ([][]byte, error) {
		out := make([][]byte, to-from+1)
		if err := eachLeaf(ctx, q, company, from, to, func(leaf int64, hash []byte) error {
			out[leaf-from] = hash
			return nil
		}); err != nil {
			return nil, err
		}
		for i, hash := range out {
			if hash == nil {
				return nil, &MissingError{company, from + int64(i)}
			}
		}
		return out, nil
	}
	return t
}

// eachLeaf calls the function use with the hashes of leaves, in no certain order. It does not call
// use for a missing row. The hash of an erased row is the one that was kept.
func eachLeaf(ctx context.Context, q db.Querier, company string, from, to int64, use func(leaf int64, hash []byte) error) error {
	if company == Deployment {
		list, err := ownHashes(ctx, q, from, to)
		for _, l := range list {
			var hash []byte
			if hash, err = decode(l.Hash); err == nil {
				err = use(l.Leaf, hash)
			}
			if err != nil {
				return err
			}
		}
		return err
	}
	type found struct {
		leaf int64
		hash []byte
	}
	var rows []found
	for _, t := range db.EvidenceTables() {
		if err := db.Leaves(ctx, q, t, company, from, to, func(leaf int64, row []string) error {
			rows = append(rows, found{leaf, leafHash(t, row)})
			return nil
		}); err != nil {
			return err
		}
	}
	// The kept hashes are read after the rows. So a row that was erased meanwhile has its kept hash.
	kept, err := Erased(ctx, q, company, from, to)
	for _, r := range rows {
		if text := kept[r.leaf]; err == nil && text != "" {
			r.hash, err = decode(text)
		}
		if err == nil {
			err = use(r.leaf, r.hash)
		}
	}
	return err
}

// leafHash returns the hash of the leaf of a row.
func leafHash[V any](t *db.Table, row []V) []byte {
	salt, content := leafData(t, row)
	return hasher.HashLeaf(append([]byte(salt), content...))
}

// LeafHash returns the hash of the leaf of a row, as Erased returns it.
func LeafHash(t *db.Table, row []string) string { return encode(leafHash(t, row)) }

// leafData returns the two parts of the data of a row's leaf: its MAC and its content.
func leafData[V any](t *db.Table, row []V) (salt string, content []byte) {
	salt, _ = any(row[len(row)-1]).(string)
	return salt, db.Content(nil, t, row)
}
