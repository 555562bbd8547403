package ledger

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// most is how many units share a transaction.
const most = 512

// crowd is how many units may wait in a batcher. While the database hangs, further units
// are refused, so the memory of waiting units has a bound.
const crowd = 32 * most

// patience is the timeout of a batch, and of looking up a COMMIT without an answer.
const patience = 20 * time.Second

// pending is a unit that waits for its answer.
type pending struct {
	unit Unit
	done chan error
	fate atomic.Int32
}

// The fates of a unit.
const (
	undecided int32 = iota
	taken           // a batch that may be committed has the unit
	left            // the caller has gone, and the unit must not happen
)

// take makes the unit part of a batch, unless its caller has gone.
func (p *pending) take() bool {
	return p.fate.CompareAndSwap(undecided, taken) || p.fate.Load() == taken
}

// leave ends the wait of a caller. A unit that no batch has taken never happens. For
// other units the outcome is unknown.
func (p *pending) leave() error {
	if p.fate.CompareAndSwap(undecided, left) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errTooLate)
	}
	return fault.New(fault.Unknown, "Service temporarily unavailable").Because(errTooLate)
}

// isGone tells whether the caller has gone before a batch took the unit.
func (p *pending) isGone() bool { return p.fate.Load() == left }

var (
	errTooLate = errors.New("ledger: the database did not answer in the caller's time")
	errCrowd   = errors.New("ledger: too many changes wait for the database")
)

// newBatcher is a batcher of the ledger's units, with room for so many.
func (b *Book) newBatcher(room int) *batch.Queue[*pending] {
	return batch.New(most, room, b.commit, (*pending).isGone)
}

// commit runs one batch, answers its units, and returns those that must wait
// for the next. A batch of refusals commits too while there is a doubt: a refusal
// tells of rows, and they may not be on the standby.
func (b *Book) commit(all []*pending) (late []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), b.patience)
	defer cancel()
	var d *decision
	err := b.run(ctx, func(p db.Pipeline) error {
		d = newDecision(b.watcher != nil)
		for _, w := range all {
			d.name(w.unit)
		}
		if err := p.Read(ctx, d.lookups()...); err != nil {
			return err
		}
		d.date(b.clock.Now())
		for _, w := range all {
			d.decide(w)
		}
		doubts := b.db.Doubts() // after the reading, which may have opened a connection
		proves := !b.certain(doubts) && d.prove()
		if len(d.accepted) == 0 && !proves {
			p.Rollback()
			return nil
		}
		if err := b.tell(ctx, p, d); err != nil {
			p.Rollback()
			return err
		}
		err := p.Commit(ctx, d.writes()...)
		if err == nil {
			b.proven.Store(doubts)
		}
		return err
	})
	switch {
	case err == nil:
		b.answer(d)
		return d.late
	case errors.Is(err, db.ErrUncommitted):
		return append(d.late, b.lookUp(d)...)
	case ctx.Err() != nil:
		// The database did not answer in time, and nothing was committed.
		err = fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	case len(all) > 1 && !fault.Is(err, fault.Unavailable):
		// Something the decision cannot see is wrong with one of them: a row
		// that breaks a CHECK, say. Alone, each gets its own answer.
		for _, w := range all {
			late = append(late, b.commit([]*pending{w})...)
		}
		return late
	}
	for _, w := range all {
		w.done <- err
	}
	return nil
}

// answer tells everyone, the listeners first: who waits for an event should not
// hear of it later than who caused it.
func (b *Book) answer(d *decision) {
	if len(d.accepted) > 0 {
		b.mu.RLock()
		for _, fn := range b.listeners {
			fn(d.companies)
		}
		b.mu.RUnlock()
	}
	for _, w := range d.accepted {
		w.done <- nil
	}
	for _, r := range d.refused {
		r.who.done <- r.why
	}
}

// lookUp settles a batch whose COMMIT got no answer. It locks the lock rows first, which
// the lost transaction held. Once they are ours that transaction is over, and its rows
// tell how it ended.
//
// A refusal may rest on what the batch itself did, so it stands only if the batch
// happened. Otherwise lookUp returns the refused units to be decided again, or
// tells them that the database is away: none of them has written anything.
func (b *Book) lookUp(d *decision) (again []*pending) {
	happened, err := b.happened(d)
	if err == nil && happened {
		b.answer(d)
		return nil
	}
	away := fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	outcome := away
	if err != nil {
		outcome = fault.New(fault.Unknown, "Service temporarily unavailable").Because(err)
	}
	for _, w := range d.accepted {
		w.done <- outcome
	}
	for _, r := range d.refused {
		if err == nil {
			again = append(again, r.who)
		} else {
			r.who.done <- away
		}
	}
	return again
}

// happened asks until the database says whether the batch was committed, or until
// it cannot be known.
func (b *Book) happened(d *decision) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.patience)
	defer cancel()
	happened, err := b.witnessed(ctx, d)
	for pause := 50 * time.Millisecond; err != nil && !errors.Is(err, errNoWitness) && !errors.Is(err, errOther) && ctx.Err() == nil; pause *= 2 {
		if errors.Is(err, errUnheld) && pause > time.Second {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		happened, err = b.witnessed(ctx, d)
	}
	return happened, err
}

// errNoWitness: the units of the batch only changed rows.
var errNoWitness = errors.New("ledger: no row of the batch could be looked up")

// errOther: there is a row of the witness's key, and it is not as the batch wrote
// it. Another program made it, or has changed ours.
var errOther = errors.New("ledger: a row of the batch is there as another")

// errUnheld: the batch only founded companies, so the lost transaction held no
// lock row that could be waited for. It may still be on its way.
var errUnheld = errors.New("ledger: the lost transaction held nothing that could be waited for")

// witnessed looks for a row of one accepted unit: the batch was one
// transaction, so one row speaks for all.
//
// A server may show a row that its standby does not have, after a restart or when
// somebody ended the wait for the standby. So witnessed writes the lock rows as they
// are and commits: a standby that has this commit has every one before it.
func (b *Book) witnessed(ctx context.Context, d *decision) (bool, error) {
	found := false
	witness, there := d.witness(&found)
	if !there {
		return false, errNoWitness
	}
	heads := d.headLookup()
	again := db.Write{Table: headTable, By: heads.By, Set: heads.Columns}
	heads.Found = func(row []any) error { again.Rows = append(again.Rows, row); return nil }
	err := b.run(ctx, func(p db.Pipeline) error {
		found, again.Rows = false, nil
		err := p.Read(ctx, heads, witness)
		if err != nil || !found {
			p.Rollback()
			return err
		}
		doubts := b.db.Doubts()
		if err = p.Commit(ctx, again); err == nil && len(again.Rows) > 0 {
			b.proven.Store(doubts)
		}
		return err
	})
	if err == nil && !found && !d.held() {
		err = errUnheld
	}
	return found, err
}

// witness looks for a row that only this batch can have written, and says in
// found whether it is there. A transfer is known by its stamp: the same step may
// have been taken by another program, after ours was lost.
func (d *decision) witness(found *bool) (db.Lookup, bool) {
	if len(d.transfers) > 0 {
		return db.Lookup{
			Table: transferTable, By: transferTable.KeyNames(), Columns: []string{"stamp"},
			Keys:  [][]any{d.transfers[0][:transferTable.Key]},
			Found: func(row []any) error { *found = row[transferTable.Key] == any(d.stamp); return nil },
		}, true
	}
	for _, w := range d.accepted {
		if r, there := w.unit.witness(); there {
			return rowLookup(r, found), true
		}
	}
	return db.Lookup{}, false
}

// rowLookup looks for a row as it was to be written. It is looked for by its
// primary key, since another program may insert the same unique values; by
// what else is unique in it if the book gave it its number.
func rowLookup(r db.Record, found *bool) db.Lookup {
	given := func(v any) bool { return v == any(Now) || isNext(v) }
	by := r.Table.KeyNames()
	if slices.ContainsFunc(r.Values[:r.Table.Key], given) {
		by = r.Table.UniqueNames()
	}
	key := make([]any, len(by))
	for i, n := range by {
		key[i] = r.Value(n)
	}
	return db.Lookup{
		Table: r.Table, By: by, Columns: r.Table.Names(), Keys: [][]any{key},
		Found: func(row []any) error {
			for i, v := range row[len(by):] {
				if ours := r.Values[i]; !given(ours) && keyOf([]any{ours}) != keyOf([]any{v}) {
					return errOther
				}
			}
			*found = true
			return nil
		},
	}
}

func isNext(v any) bool { _, ok := v.(Next); return ok }

// held tells whether the batch had locked a lock row.
func (d *decision) held() bool {
	for _, h := range d.heads {
		if h.found {
			return true
		}
	}
	return false
}
