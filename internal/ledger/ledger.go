// Package ledger is the double-entry ledger. Only this package writes money, and the rows
// that must change together with money.
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
	Exists    Reason = "exists"     // a row that should be new exists
	Moved     Reason = "moved"      // a row has another state or other values than expected
	Short     Reason = "short"      // an account would go below what it must keep
	Over      Reason = "over"       // a limit counter would exceed its limit
	NoAccount Reason = "no account" // a transfer names an account that does not exist
	NoCompany Reason = "no company" // the company has no lock row
)

// Refusal says why a unit was refused. Nothing of the unit was written.
type Refusal struct {
	Reason  Reason
	Rows    []db.Record // Exists: the existing rows
	Table   *db.Table   // Moved: the table of the row
	State   string      // Moved: the state of the row; "" when there is no such row
	Account string      // Short, NoAccount
	Balance money.Kobo  // Short: the balance of the account
	Count   Count       // Over: the limit counter
}

// Error returns the refusal in words.
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

// Refused returns the refusal inside err, or nil.
func Refused(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// Is reports whether err is a refusal for a reason and, if tables are named, because of a
// row of one of these (Exists, Moved).
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

// Except is err, or nil if err is a refusal for a reason.
func Except(err error, why Reason) error {
	if Is(err, why) {
		return nil
	}
	return err
}

// Existing returns the existing row of a table that the refused unit would have inserted once.
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
	run   func(ctx context.Context, strokes func(db.Pipeline) error) error // db.Run
	clock clock.Clock
	onLow OnLowBalance

	batchers []*batch.Queue[*pending]
	timeout  time.Duration

	proven atomic.Uint64 // the database's doubts at the begin of the last clean write

	mu        sync.RWMutex
	listeners []func(companies []string)
}

// New returns the ledger in a database. Its alerts have no effect.
func New(d *db.DB, c clock.Clock) *Book { return WithAlerts(d, c, nil) }

// WithAlerts returns the ledger in a database. OnLow reports low balances.
func WithAlerts(d *db.DB, c clock.Clock, onLow OnLowBalance) *Book {
	b := &Book{db: d, run: d.Run, clock: c, onLow: onLow, timeout: timeout}
	// On PostgreSQL a second batch uses the time in which the first one waits for its
	// disk. SQLite has one writer.
	batchers := 2
	if d.Dialect() == db.SQLite {
		batchers = 1
	}
	for range batchers {
		b.batchers = append(b.batchers, b.newBatcher(maxWaiting))
	}
	return b
}

// Committed has fn called after each commit, with the companies of the commit. The commit
// waits for fn, so fn must not wait.
func (b *Book) Committed(fn func(companies []string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, fn)
}

// Commit makes the unit happen, or returns why it did not. The error is a *Refusal when
// the ledger refuses the unit. It is a fault of kind Unavailable when the database is
// away and nothing happened, and of kind Unknown when the outcome is unknown. Commit
// waits for the answer even after the end of ctx, but no longer than ctx allows to wait
// for the database (db.Within).
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
	batcher := b.batcher(u.Company)
	if !batcher.Add(p) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errFull)
	}
	select {
	case err := <-p.done:
		return err
	case <-wait.Over:
		err := p.leave()
		batcher.Withdraw(p)
		return err
	}
}

// Prove returns nil once every row that the database has shown is committed for good, on
// the standby too. A caller that answers from a plainly read row calls Prove first. While
// there is no doubt (db.DB.Doubts), as always on SQLite, Prove costs one comparison.
// Otherwise it costs one commit, and it returns a fault of kind Unavailable when that
// commit has no clean answer in the caller's time.
//
// One clean write proves the rows of all companies: a standby receives commits in their
// order.
func (b *Book) Prove(ctx context.Context, company string) error {
	if b.certain(b.db.Doubts()) {
		return nil
	}
	return b.send(ctx, Unit{Company: company, proof: true})
}

// certain reports whether there was a clean write since the last doubt.
func (b *Book) certain(doubts uint64) bool { return b.proven.Load() == doubts }

// Drain waits until nothing is being committed. No Commit may begin after it.
func (b *Book) Drain() {
	for _, batcher := range b.batchers {
		batcher.Drain()
	}
}

// batcher returns the batcher of a company. A company has one batcher, so batchers of one
// process never wait for each other's locks.
func (b *Book) batcher(company string) *batch.Queue[*pending] {
	sum := uint32(2166136261) // FNV-1a
	for _, c := range []byte(company) {
		sum = (sum ^ uint32(c)) * 16777619
	}
	return b.batchers[sum%uint32(len(b.batchers))]
}
