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

// maxUnits is how many units share a transaction.
const maxUnits = 512

// maxWaiting is how many units may wait in a batcher. While the database hangs, further
// units are refused, so the memory of waiting units has a bound.
const maxWaiting = 32 * maxUnits

// timeout is the longest time of a batch, and of looking up a COMMIT without an answer.
const timeout = 20 * time.Second

// pending is a unit that waits for its answer.
type pending struct {
	unit Unit
	keys []string // the unique keys of unit.inserts, in a decision
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

// isGone reports whether the caller has gone before a batch took the unit.
func (p *pending) isGone() bool { return p.fate.Load() == left }

var (
	errTooLate = errors.New("ledger: the database did not answer in the caller's time")
	errFull    = errors.New("ledger: too many changes wait for the database")
)

// newBatcher returns a batcher of the ledger's units, with room for so many.
func (b *Book) newBatcher(room int) *batch.Queue[*pending] {
	return batch.New(maxUnits, room, b.commit, (*pending).isGone)
}

// commit runs one batch, answers its units, and returns the units that must wait for the
// next batch. A batch without an accepted unit commits too while there is a doubt: its
// refusals show rows, and the standby may not have these.
func (b *Book) commit(all []*pending) (late []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	var d *decision
	err := b.run(ctx, func(p db.Pipeline) error {
		d = newDecision(b.onLow, func(lookups ...db.Lookup) error { return p.Read(ctx, lookups...) })
		for _, w := range all {
			d.name(w)
		}
		if err := p.Read(ctx, d.lookups()...); err != nil {
			return err
		}
		d.date(b.clock.Now())
		for _, w := range all {
			if err := d.decide(w); err != nil {
				p.Rollback()
				return err
			}
		}
		doubts := b.db.Doubts() // after the reads, which may have opened a connection
		proves := !b.certain(doubts) && d.prove()
		if len(d.accepted) == 0 && !proves {
			p.Rollback()
			return nil
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
		// The database refuses a row of one unit, for a CHECK for example. Each unit
		// alone gets its own answer.
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

// answer answers all units, the listeners first: a reader that waits for an event hears
// of the event no later than its cause.
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
		r.unit.done <- r.why
	}
}

// lookUp answers a batch whose COMMIT got no answer. It first takes the lock rows, which
// the lost transaction held. Then that transaction is over, and its rows show whether it
// was committed.
//
// A refusal may rest on another unit of the batch, so a refusal stands only if the batch
// was committed. Otherwise lookUp returns the refused units to be decided again, or
// answers that the database is away: a refused unit has written nothing.
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
			again = append(again, r.unit)
		} else {
			r.unit.done <- away
		}
	}
	return again
}

// happened asks again until the database says whether the batch was committed. It gives
// up when that cannot be known.
func (b *Book) happened(d *decision) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
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

// errNoWitness: the units of the batch changed rows and inserted none.
var errNoWitness = errors.New("ledger: no row of the batch could be looked up")

// errOther: a row has the witness's key and other values. Another program has inserted
// that row, or has changed ours.
var errOther = errors.New("ledger: a row of the batch is there as another")

// errUnheld: the batch only founded companies, so there is no lock row to wait for. The
// lost transaction may still be running.
var errUnheld = errors.New("ledger: the lost transaction held nothing that could be waited for")

// witnessed looks for a row of one accepted unit. The batch was one transaction, so one
// row stands for all.
//
// A server may show a row that its standby does not have, after a restart or when an
// operator ended the wait for the standby. So witnessed writes the lock rows as they are
// and commits: a standby that has this commit has all earlier commits.
func (b *Book) witnessed(ctx context.Context, d *decision) (bool, error) {
	found := false
	witness, there := d.witness(&found)
	if !there {
		return false, errNoWitness
	}
	locks := d.lockLookup()
	again := db.Write{Table: lockTable, By: locks.By, Set: locks.Columns}
	locks.Found = func(row []any) error { again.Rows = append(again.Rows, row); return nil }
	err := b.run(ctx, func(p db.Pipeline) error {
		found, again.Rows = false, nil
		err := p.Read(ctx, locks, witness)
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

// witness looks for a row that only this batch can have inserted, and sets found. A
// transfer has the batch's stamp: another program may have taken the same step after our
// batch was lost.
func (d *decision) witness(found *bool) (db.Lookup, bool) {
	if len(d.transfers) > 0 {
		return db.Lookup{
			Table: transferTable, By: transferTable.KeyNames(), Columns: []string{"stamp"},
			Keys:  [][]any{d.transfers[0][:transferTable.Key]},
			Found: func(row []any) error { *found = row[transferTable.Key] == d.stamp; return nil },
		}, true
	}
	for _, w := range d.accepted {
		if r, there := w.unit.witness(); there {
			return rowLookup(r, found), true
		}
	}
	return db.Lookup{}, false
}

// rowLookup looks for a row with its values. It uses the primary key, since another
// program may insert the same unique values. If the ledger has set a number in the
// primary key, rowLookup uses the unique columns.
func rowLookup(r db.Record, found *bool) db.Lookup {
	given := func(v any) bool {
		_, next := v.(Next)
		return next || v == any(Now)
	}
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

// held reports whether the batch had locked a lock row.
func (d *decision) held() bool {
	for _, l := range d.locks {
		if l.found {
			return true
		}
	}
	return false
}
