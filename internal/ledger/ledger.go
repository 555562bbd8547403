// Package ledger is the double-entry ledger. It is the only place that writes money,
// and everything that must change together with money.
//
// A change is a Unit: a journal entry and all that belongs to it, as data. The ledger
// accepts a unit whole or refuses it whole. Units that arrive together share one
// transaction, and a refused unit never harms its neighbours.
//
// Each transfer debits one account and credits another by one amount, and
// leaves two entries that carry the balance before and after. A balance is
// credits less debits, so all balances of a company add up to zero, and a
// settlement account (what the fintech owes the company) is positive.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// Reason is why a unit was refused.
type Reason string

// The reasons.
const (
	Exists    Reason = "exists"     // a row that should be new is there
	Moved     Reason = "moved"      // a row is in another state, or not as it was
	Short     Reason = "short"      // an account would go below what it must keep
	Over      Reason = "over"       // a limit counter would exceed its limit
	NoAccount Reason = "no account" // a transfer names an account that does not exist
	NoCompany Reason = "no company" // the company has no lock row
)

// Refusal says why a unit was refused. Nothing of the unit was written.
type Refusal struct {
	Reason  Reason
	Rows    []db.Record // Exists: the rows that are there
	Table   *db.Table   // Moved: where
	State   string      // Moved: the state the row is in; "" when there is no such row
	Account string      // Short, NoAccount
	Balance money.Kobo  // Short: what the account holds
	Count   Count       // Over: which
}

// Error is the refusal in words.
func (r *Refusal) Error() string {
	switch r.Reason {
	case Exists:
		return fmt.Sprintf("ledger: a row of %s exists already", r.Rows[0].Table.Name)
	case Moved:
		return fmt.Sprintf("ledger: the row is in state %q", r.State)
	case Short, NoAccount:
		return fmt.Sprintf("ledger: %s: %s", r.Reason, r.Account)
	case Over:
		return fmt.Sprintf("ledger: %s would exceed %d", r.Count.Name, r.Count.Limit)
	}
	return "ledger: " + string(r.Reason)
}

// Refused is the refusal inside err, or nil.
func Refused(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// Is tells whether err is a refusal for a reason; and, where a table is named,
// because of a row of that one (Exists, Moved).
func Is(err error, why Reason, of ...*db.Table) bool {
	r := Refused(err)
	if r == nil || r.Reason != why {
		return false
	}
	return len(of) == 0 || slices.ContainsFunc(of, func(t *db.Table) bool {
		_, exists := r.Existing(t)
		return exists || t == r.Table
	})
}

// Existing is the row of a table that a row of the unit should have been the first
// of, if the unit was refused for it.
func (r *Refusal) Existing(t *db.Table) (db.Record, bool) {
	i := slices.IndexFunc(r.Rows, func(row db.Record) bool { return row.Table == t })
	if i < 0 {
		return db.Record{}, false
	}
	return r.Rows[i], true
}

// Book is the ledger of all companies in one database.
type Book struct {
	db    *db.DB
	run   func(ctx context.Context, strokes func(db.Pipeline) error) error // of db
	clock clock.Clock
	lanes []*batch.Queue[*pending]

	patience time.Duration

	proven atomic.Uint64 // the database's doubts at the begin of the last clean write

	watcher Watcher

	mu        sync.RWMutex
	listeners []func(companies []string)
}

// New opens the book.
func New(d *db.DB, c clock.Clock) *Book {
	b := &Book{db: d, run: d.Run, clock: c, patience: patience}
	for range lanes(d.Dialect()) {
		b.lanes = append(b.lanes, b.newBatcher(crowd))
	}
	return b
}

// lanes is how many transactions may run side by side. SQLite has one writer;
// on PostgreSQL a second batch uses the time in which the first waits for its
// disk. A company always takes the same lane, so lanes never wait for one
// another within a process.
func lanes(d db.Dialect) int {
	if d == db.SQLite {
		return 1
	}
	return 2
}

// Committed has fn called after each commit with the companies it touched. It
// is called in the path of the commit and must not wait.
func (b *Book) Committed(fn func(companies []string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, fn)
}

// Commit makes the unit happen, or returns why it did not: a *Refusal when the
// book says no, a fault of kind Unavailable when the database is away (nothing
// happened), a fault of kind Unknown when nobody can tell. Once the unit is on
// its way Commit waits for the answer even if ctx ends, but no longer than ctx
// allows to wait for the database (db.Within).
func (b *Book) Commit(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	return b.send(ctx, u)
}

// send has a unit decided, and waits for its answer.
func (b *Book) send(ctx context.Context, u Unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := db.Await(ctx)
	defer wait.End()
	p := &pending{unit: u, done: make(chan error, 1)}
	l := b.lane(u.Company)
	if !l.Add(p) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errCrowd)
	}
	select {
	case err := <-p.done:
		return err
	case <-wait.Over:
		err := p.leave()
		l.Withdraw(p)
		return err
	}
}

// Drain waits until nothing is being committed. No Commit may begin after it.
func (b *Book) Drain() {
	for i := range b.lanes {
		b.lanes[i].Drain()
	}
}

func (b *Book) lane(company string) *batch.Queue[*pending] {
	sum := uint32(2166136261) // FNV-1a
	for _, c := range []byte(company) {
		sum = (sum ^ uint32(c)) * 16777619
	}
	return b.lanes[sum%uint32(len(b.lanes))]
}
