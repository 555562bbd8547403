package evidence

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// Tree is a tree with its methods for tests.
type Tree struct {
	*tree
	d *db.DB
}

// TreeOf returns a tree over leaves of a test.
func TreeOf(ctx context.Context, d *db.DB, company string, size int64, leaves func(from, to int64) ([][]byte, error)) Tree {
	return Tree{&tree{ctx: ctx, q: d, company: company, size: size, leaves: leaves}, d}
}

// Grow stores all whole tiles, in steps of 100.
func (t Tree) Grow() error {
	for {
		all, err := t.grow(func(rows ...db.Record) error { return t.d.Insert(t.ctx, rows...) }, 100)
		if err != nil || all {
			return err
		}
	}
}

// Root, Inclusion and Consistency export the methods of a tree.
func (t Tree) Root(size int64) ([]byte, error) { return t.root(size) }

// Inclusion proves a leaf.
func (t Tree) Inclusion(index, size int64) ([][]byte, error) { return t.inclusion(index, size) }

// Consistency proves a beginning.
func (t Tree) Consistency(from, to int64) ([][]byte, error) { return t.consistency(from, to) }

// LimitTiles sets how many tiles a request stores.
func LimitTiles(s *Service, n int64) { s.limit = n }

// LimitPerDay sets how many checkpoints a company has in a day before it gets none on demand.
func LimitPerDay(s *Service, n int) { s.perDay = n }

// WithoutLinks makes the second place storage without hard links.
func WithoutLinks(s *Service) { s.link = func(string, string) error { return errors.ErrUnsupported } }

// LimitRound sets how long a run of the job lasts, and how many companies share one transaction.
func LimitRound(s *Service, patience time.Duration, atOnce int) {
	s.patience, s.atOnce = patience, atOnce
}
