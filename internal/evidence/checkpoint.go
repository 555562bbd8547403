package evidence

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// AlteredError means that a tree does not have the root that Kobo signed for it.
type AlteredError struct {
	Company string
	Size    int64
}

// Error describes the difference in words.
func (e *AlteredError) Error() string {
	return fmt.Sprintf("evidence: the first %d rows of %q do not have the root of their checkpoint", e.Size, e.Company)
}

// grown is a tree that is ready for a checkpoint.
type grown struct {
	company string
	size    int64
	root    []byte
}

const (
	// tilesInRound is the maximum number of tiles that one run of the job stores for a company.
	tilesInRound = 1000
	// onDemandEvery is the time from the deployment's last checkpoint to the next one on demand, of any
	// company.
	onDemandEvery = time.Second
)

// errGrowing means that the tree of a company has more new rows than one request reads.
var errGrowing = fault.New(fault.Unavailable, "The tree is being made. Repeat the request").After(time.Second)

// prepare stores the whole tiles of a company, and returns the present tree. It checks first that the
// beginning of the tree still has the root of the last checkpoint. It returns errGrowing if there are
// more new tiles than limit.
func (s *Service) prepare(ctx context.Context, company string, limit int64) (g grown, last Checkpoint, err error) {
	if last, err = latest(ctx, s.DB, company); err != nil {
		return g, last, err
	}
	size, err := ledger.Leaves(ctx, s.DB, company)
	if err != nil {
		return g, last, err
	}
	if size < last.Size {
		return g, last, &AlteredError{company, last.Size}
	}
	t := s.tree(ctx, s.DB, company, size)
	if err := t.check(last); err != nil {
		return g, last, err
	}
	insert := func(rows ...db.Record) error { return s.DB.Insert(ctx, rows...) }
	if all, err := t.grow(insert, limit); err != nil || !all {
		if err == nil {
			err = errGrowing
		}
		return g, last, err
	}
	root, err := s.tree(ctx, s.DB, company, size).root(size)
	return grown{company, size, root}, last, err
}

// check returns an error unless the tree has the root of a checkpoint.
func (t *tree) check(c Checkpoint) error {
	if c.Size == 0 {
		return nil
	}
	root, err := t.root(c.Size)
	if err == nil && encode(root) != c.Root {
		err = &AlteredError{t.company, c.Size}
	}
	return err
}

// sign signs the heads of several companies in one transaction, and then the head of the deployment's
// tree, which contains them. It skips a company that has a checkpoint of the same size already.
func (s *Service) sign(ctx context.Context, all []grown, onDemand bool) (made []Checkpoint, err error) {
	name, err := s.Name(ctx)
	if err != nil {
		return nil, err
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return nil, err
	}
	err = s.DB.Tx(ctx, func(q db.Querier) error {
		made = nil
		count, err := lockTree(ctx, q, Deployment)
		if err != nil {
			return err
		}
		before := Checkpoint{}
		if count > 0 {
			before, err = find(ctx, q, Deployment, count)
			if errors.Is(err, db.ErrNone) {
				err = &AlteredError{Deployment, count}
			}
			if err != nil {
				return err
			}
		}
		now := s.Clock.Now()
		for _, g := range all {
			last, err := latest(ctx, q, g.company)
			if err != nil {
				return err
			}
			if last.Size >= g.size {
				continue
			}
			if onDemand {
				if err := s.mayDemand(ctx, q, g.company, now, before.CreatedAt); err != nil {
					return err
				}
			}
			count++
			c, err := s.signOne(ctx, q, name, by, g, count, now)
			if err != nil {
				return err
			}
			made = append(made, c)
		}
		if len(made) == 0 {
			return nil
		}
		_, err = s.signOwn(ctx, q, name, by, before, count, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// mayDemand returns an error if a company gets no checkpoint on demand now. So requests can make neither
// the deployment's tree nor a company's events grow without a bound. A checkpoint of the future is one of a clock that was ahead, and
// limits nothing.
func (s *Service) mayDemand(ctx context.Context, q db.Querier, company string, now, last time.Time) error {
	if wait := onDemandEvery - now.Sub(last); !last.IsZero() && wait > 0 && !last.After(now) {
		return fault.New(fault.Limited, "A checkpoint is made once a second. Repeat the request").After(wait)
	}
	at, err := nthLatest(ctx, q, company, s.perDay)
	if err == nil && now.Sub(at) < 24*time.Hour && !at.After(now) {
		err = fault.New(fault.Limited, fmt.Sprintf("Your company had %d checkpoints in 24 hours. The next hourly one covers the row", s.perDay)).With(fault.QuotaReached).After(signEvery)
	}
	return err
}

// signOne signs the head of a company, and adds it to the deployment's tree.
func (s *Service) signOne(ctx context.Context, q db.Querier, name string, by []note.Signer, g grown, leaf int64, now time.Time) (Checkpoint, error) {
	h := newHead(origin(name, g.company), g.size, g.root, now)
	text, err := sign(h, by)
	c := Checkpoint{Company: g.company, Size: g.size, Root: encode(g.root), Note: text, Leaf: leaf, State: signed, CreatedAt: now}
	if !hasEvents(g.company) {
		c.State = told
	}
	if err == nil {
		err = insertCheckpoint(ctx, q, c)
	}
	if err == nil {
		err = setSize(ctx, q, g.company, g.size)
	}
	if err == nil {
		err = insertLeaf(ctx, q, ownLeaf{Deployment, leaf, encode(hasher.HashLeaf([]byte(h.text)))})
	}
	return c, err
}

// signOwn signs the head of the deployment's tree.
func (s *Service) signOwn(ctx context.Context, q db.Querier, name string, by []note.Signer, before Checkpoint, size int64, now time.Time) (Checkpoint, error) {
	var c Checkpoint
	t := s.tree(ctx, q, Deployment, size)
	if err := t.check(before); err != nil {
		return c, err
	}
	insert := func(rows ...db.Record) error {
		for _, row := range rows {
			if err := insertTile(ctx, q, row); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := t.grow(insert, size); err != nil {
		return c, err
	}
	root, err := s.tree(ctx, q, Deployment, size).root(size)
	if err != nil {
		return c, err
	}
	text, err := sign(newHead(origin(name, Deployment), size, root, now), by)
	c = Checkpoint{Company: Deployment, Size: size, Root: encode(root), Note: text, State: told, CreatedAt: now}
	if err == nil {
		err = insertCheckpoint(ctx, q, c)
	}
	if err == nil {
		err = setSize(ctx, q, Deployment, size)
	}
	return c, err
}

// OnDemand returns a checkpoint that covers a leaf of a company. It makes one if necessary.
func (s *Service) OnDemand(ctx context.Context, company string, leaf int64) (Checkpoint, error) {
	last, err := latest(ctx, s.DB, company)
	if err != nil || last.Size >= leaf {
		return last, err
	}
	g, _, err := s.prepare(ctx, company, s.limit)
	if err != nil {
		return last, s.report(err)
	}
	made, err := s.sign(ctx, []grown{g}, true)
	if err != nil {
		return last, s.report(err)
	}
	s.tellAll(ctx, made)
	return latest(ctx, s.DB, company)
}

// report logs an error that means that a tree was changed, and returns the error.
func (s *Service) report(err error) error {
	if IsAltered(err) {
		s.Log.Error("a tree of evidence was changed: run kobo verify", "error", err)
	}
	return err
}

// IsAltered reports whether an error means that rows of evidence were changed or removed.
func IsAltered(err error) bool {
	var altered *AlteredError
	var missing *MissingError
	var text base64.CorruptInputError
	return errors.As(err, &altered) || errors.As(err, &missing) || errors.As(err, &text)
}

// hasEvents reports whether a company is told of its checkpoints.
func hasEvents(company string) bool { return company != "" && company != inbox.House }

// Signed is the data of the event checkpoint.signed.
type Signed struct {
	Size       int64  `json:"size"`
	Root       string `json:"root"`
	Checkpoint string `json:"checkpoint"`
	CreatedAt  string `json:"createdAt"`
}

// tellAll tells the companies of their checkpoints. After an error, the next round tells the company.
func (s *Service) tellAll(ctx context.Context, made []Checkpoint) {
	for _, c := range made {
		if c.State == told {
			continue
		}
		c.State = told
		u := ledger.For(c.Company)
		u.Transition(checkpoints.Record(c), signed)
		event.Emit(&u, event.CheckpointSigned, c.Wire())
		if err := ledger.Except(s.Book.Commit(ctx, u), ledger.Moved); err != nil {
			s.Log.Warn("a company was not told of its checkpoint", "company", c.Company, "error", err)
		}
	}
}
