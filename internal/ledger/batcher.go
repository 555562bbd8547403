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

// maxUnits is the largest number of units that share a transaction.
const maxUnits = 512

// maxWaiting is the largest number of units that may wait in the queue. While the database hangs,
// further units are refused, so the memory of waiting units has a bound.
const maxWaiting = 32 * maxUnits

// timeout is the longest time that a batch may take. It also limits the look-up of a COMMIT whose
// reply was lost.
const timeout = 20 * time.Second

// slow is how long a batch at a place runs alone (queueOf). Then a second one begins beside it.
const slow = 250 * time.Millisecond

const (
	// longestPause is the longest pause between two look-ups of a COMMIT whose reply was lost. The companies of the
	// batch wait meanwhile. So it bounds how long they wait after another server has become the primary.
	longestPause = 200 * time.Millisecond
	// patience is how long such a look-up waits for a transaction that held no lock row, and for a disk that refuses
	// the commit of the look-up.
	patience = 1500 * time.Millisecond
)

// pending is a unit that waits for its result.
type pending struct {
	unit Unit
	keys []string // the unique keys of unit.inserts, filled in by a decision
	done chan error
	fate atomic.Int32
}

// A unit has one of these fates.
const (
	undecided int32 = iota
	taken           // the unit is in a batch that may be committed
	left            // the caller has stopped waiting, and the unit must not be committed
)

// take makes the unit part of a batch. It returns false if the caller has stopped waiting.
func (p *pending) take() bool {
	return p.fate.CompareAndSwap(undecided, taken) || p.fate.Load() == taken
}

// leave ends the wait of a caller and returns the caller's error. A unit that no batch has taken is
// never committed. The outcome of a taken unit is unknown.
func (p *pending) leave() error {
	if p.fate.CompareAndSwap(undecided, left) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errTooLate)
	}
	return fault.New(fault.Unknown, "Service temporarily unavailable").Because(errTooLate)
}

// isGone reports whether the caller stopped waiting before a batch took the unit.
func (p *pending) isGone() bool { return p.fate.Load() == left }

var (
	errTooLate = errors.New("ledger: the database did not answer in the caller's time")
	errFull    = errors.New("ledger: too many changes wait for the database")
)

// share is the largest number of units of one company in a batch while companies compete. The wait
// of a company is then short even if another company floods the ledger.
const share = 8

// newQueue returns a queue of the ledger's units. At most room units can wait in it. On PostgreSQL,
// one batch can run while another batch waits for the disk. SQLite has only one writer. A company
// is never in two batches of a queue, so two of its batches never wait for each other's locks.
func (b *Book) newQueue(room int) *batch.Queue[*pending] {
	runners := 2
	if b.db.Dialect() == db.SQLite {
		runners = 1
	}
	company := func(p *pending) string { return p.unit.Company }
	return batch.New(maxUnits, room, b.measured, (*pending).isGone).Shared(runners, share, company)
}

// commit runs one batch, reports the result to the caller of each unit, and returns the units that
// must wait for the next batch. While there is a doubt (db.DB.Doubts), it commits even a batch
// without an accepted unit. Such a batch also needs a commit, because its refusals return rows that
// the standby may not have yet.
func (b *Book) commit(all []*pending) (late []*pending) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	place := b.db.Place(all[0].unit.Company) // all companies of a batch have one place
	ctx = b.db.At(ctx, all[0].unit.Company)
	var d *decision
	err := b.run(ctx, func(p db.Pipeline) error {
		d = newDecision(b.db.Signer(), b.db.Packs(), b.onLow, func(lookups ...db.Lookup) error { return p.Read(ctx, lookups...) })
		d.guarded = b.divided()
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
		d.signRights()
		doubts := b.db.Doubts() // called after all reads, because a read may open a connection, which counts as a doubt
		writes := d.writes()
		d.wrote = slices.ContainsFunc(writes, func(w db.Write) bool { return len(w.Rows) > 0 })
		switch {
		case (d.guarded && d.wrote || !b.certain(place, doubts)) && d.prove():
			writes = d.writes() // now with unchanged lock rows
		case !d.wrote:
			p.Rollback() // each unit is refused, or only expected rows in their states
			return nil
		}
		err := p.Commit(ctx, writes...)
		if err == nil {
			b.succeeded(place, doubts)
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
		// The database did not respond in time, and nothing was committed.
		err = fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	case len(all) > 1 && !fault.Is(err, fault.Unavailable):
		// The database refuses a row of one unit, for example because of a CHECK. Each unit now
		// gets a batch and a result for itself.
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

// answer reports the outcome of a batch. It calls the listeners before it replies to the units'
// callers. So a reader that waits for an event is woken before the caller that caused the event
// gets its result.
func (b *Book) answer(d *decision) {
	if len(d.accepted) > 0 && d.wrote {
		b.mu.RLock()
		for _, fn := range b.listeners {
			fn(d.companies)
		}
		for _, l := range b.appended {
			if rows := d.inserts[l.table]; len(rows) > 0 {
				l.fn(rows)
			}
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

// lookUp settles a batch whose COMMIT got no reply. The transaction of the batch had locked the
// lock rows. lookUp first locks them again, so that transaction must have ended. Its rows then show
// whether it was committed.
//
// A unit may have been refused because of an accepted unit of the same batch. So a refusal is final
// only if the batch was committed. If the batch was not committed, lookUp returns the refused
// units, which are then decided again. If the outcome stays unknown, lookUp reports Unavailable to
// their callers. Unavailable is correct, because a refused unit has written nothing.
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

// happened asks the database repeatedly, until it knows whether the batch was committed. It gives
// up when that cannot be known.
func (b *Book) happened(d *decision) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	if len(d.companies) > 0 {
		ctx = b.db.At(ctx, d.companies[0])
	}
	happened, err := b.witnessed(ctx, d)
	waited := time.Duration(0)
	for pause := 50 * time.Millisecond; err != nil && !errors.Is(err, errNoWitness) && !errors.Is(err, errOther) && ctx.Err() == nil; pause = min(2*pause, longestPause) {
		if waited > patience && (errors.Is(err, errUnheld) || b.db.Dialect() == db.SQLite) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		waited += pause
		happened, err = b.witnessed(ctx, d)
	}
	return happened, err
}

// errNoWitness means that the units of the batch changed rows and inserted none. Without an
// inserted row, nothing shows whether the batch was committed.
var errNoWitness = errors.New("ledger: no row of the batch could be looked up")

// errOther means that a row has the key of the row that we look up, but other values. Another
// program has inserted that row, or has changed ours.
var errOther = errors.New("ledger: a row of the batch is there as another")

// errUnheld means that the batch only founded companies, so there is no lock row to wait for. The
// lost transaction may still be running.
var errUnheld = errors.New("ledger: the lost transaction held nothing that could be waited for")

// witnessed reports whether the batch was committed. It looks for one row that the batch inserted.
// The batch was one transaction, so one row proves all of it.
//
// A server may show a row that its standby does not have. This happens after a restart, or when an
// operator cancels the wait for the standby. So witnessed rewrites the lock rows unchanged and
// commits. A standby that has this commit has all earlier commits.
//
// SQLite shows no row of a COMMIT whose fsync failed. But the whole transaction may be in its write-ahead log, and a
// start after a kill of the program carries it out. The next commit writes over it. So witnessed commits there in
// either case. SQLite writes nothing for a row that stays as it is, so the instant of the lock row changes.
func (b *Book) witnessed(ctx context.Context, d *decision) (bool, error) {
	found := false
	witness, there := d.witness(&found)
	if !there {
		return false, errNoWitness
	}
	locks := d.lockLookup()
	again := db.Write{Table: lockTable, By: locks.By, Set: locks.Columns}
	lite := b.db.Dialect() == db.SQLite
	locks.Found = func(row []any) error {
		dated := row[datedAt].(int64)
		if row[datedAt] = b.guard(&again, dated); lite {
			row[datedAt] = dated + 1
		}
		again.Rows = append(again.Rows, row)
		return nil
	}
	err := b.run(ctx, func(p db.Pipeline) error {
		found, again.Rows, again.Was = false, nil, nil
		err := p.Read(ctx, locks, witness)
		if err != nil || !found && !lite {
			p.Rollback()
			return err
		}
		doubts := b.db.Doubts()
		if err = p.Commit(ctx, again); err == nil && len(again.Rows) > 0 {
			b.succeeded(b.db.Place(d.companies[0]), doubts)
		}
		return err
	})
	if err == nil && !found && !d.held() {
		err = errUnheld
	}
	return found, err
}

// witness returns the look-up of a row that only this batch can have inserted. The look-up sets
// found. For a transfer it compares the random stamp of the batch. After the reply to our batch was
// lost, another program may have booked a transfer with the same reference and step. If the batch
// inserts no suitable row, witness returns false.
func (d *decision) witness(found *bool) (db.Lookup, bool) {
	if len(d.transfers) > 0 {
		return db.Lookup{
			Table: TransferTable, By: TransferTable.KeyNames(), Columns: []string{"stamp"},
			Keys:  [][]any{d.transfers[0][:TransferTable.Key]},
			Found: func(row []any) error { *found = row[TransferTable.Key] == d.stamp; return nil },
		}, true
	}
	for _, w := range d.accepted {
		if r, there := w.unit.witness(); there {
			return rowLookup(r, d.inserts[r.Table][0], found), true
		}
	}
	return db.Lookup{}, false
}

// rowLookup returns the look-up that finds a row by its primary key and compares its values. Ours is
// the row with the numbers and instants that the ledger has filled in. If the key has such a number,
// another program may have used the number because our batch was not committed. Its row then differs
// in the unique columns, which never change in such a table, and counts as not found.
func rowLookup(r db.Record, ours []any, found *bool) db.Lookup {
	t := r.Table
	numbered := slices.ContainsFunc(r.Values[:t.Key], func(v any) bool { _, next := v.(Next); return next })
	differs := func(theirs []any) bool {
		return slices.ContainsFunc(t.Unique, func(c string) bool { return ours[t.Index(c)] != theirs[t.Index(c)] })
	}
	return db.Lookup{
		Table: t, By: t.KeyNames(), Columns: t.Names(), Keys: [][]any{ours[:t.Key]},
		Found: func(row []any) error {
			theirs := row[t.Key:]
			if numbered && differs(theirs) {
				return nil
			}
			if *found = slices.Equal(ours, theirs); !*found {
				return errOther
			}
			return nil
		},
	}
}

// held reports whether the batch had locked at least one lock row.
func (d *decision) held() bool {
	for _, l := range d.locks {
		if l.found {
			return true
		}
	}
	return false
}
