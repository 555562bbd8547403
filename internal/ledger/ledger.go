// Package ledger is the double-entry ledger. Only this package writes money, and the rows that must
// change together with money.
//
// A change is a Unit, which contains a journal entry and all rows that belong to it. The ledger
// accepts or refuses a unit as a whole. Units that arrive together share one transaction, and a
// refused unit does not affect the other units.
//
// Each transfer debits one account and credits another by one amount, and leaves two entries that
// carry the balance before and after. A balance is credits less debits, so all balances of a
// company add up to zero. The balance of a settlement account is the money that the fintech owes
// the company, so it is positive.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/batch"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// Reason states why a unit was refused.
type Reason string

// These are the reasons of a refusal.
const (
	Exists    Reason = "exists"     // a row that must be new exists already
	Moved     Reason = "moved"      // a row has another state or other values than expected
	Short     Reason = "short"      // an account would fall below its floor or below Transfer.Leave
	Over      Reason = "over"       // a limit counter would exceed its limit
	Closed    Reason = "closed"     // an account is closed to debits
	NoAccount Reason = "no account" // a transfer names an account that does not exist
	NoCompany Reason = "no company" // the company has no lock row
)

// Refusal explains why a unit was refused. A refused unit has written nothing.
type Refusal struct {
	Reason  Reason
	Rows    []db.Record // the existing rows, for Exists
	Table   *db.Table   // the table of the row, for Moved
	State   string      // the state of the row, for Moved; "" if the row does not exist
	Account string      // the account, for Short, Closed and NoAccount
	Balance money.Kobo  // the balance of the account, for Short
	Count   Count       // the limit counter, for Over
}

// Error describes the refusal in words.
func (r *Refusal) Error() string {
	switch r.Reason {
	case Exists:
		return fmt.Sprintf("ledger: a row of %s exists already", r.Rows[0].Table.Name)
	case Moved:
		return fmt.Sprintf("ledger: the row is in state %q", r.State)
	case Short, Closed, NoAccount:
		return fmt.Sprintf("ledger: %s: %s", r.Reason, r.Account)
	case Over:
		return fmt.Sprintf("ledger: %s would exceed %d", r.Count.Name, r.Count.Limit)
	}
	return "ledger: " + string(r.Reason)
}

// Refused returns the refusal in err's chain, or nil.
func Refused(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// Is reports whether err is a refusal with a reason. If tables are named, the refusal must also
// concern a row of one of these tables (Exists, Moved).
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

// IsOver reports whether err is the refusal of a unit whose count would exceed the limit of this counter.
func IsOver(err error, counter string) bool {
	return Is(err, Over) && Refused(err).Count.Name == counter
}

// Except returns err, or nil if err is a refusal with the given reason.
func Except(err error, why Reason) error {
	if Is(err, why) {
		return nil
	}
	return err
}

// Existing returns the row of table t that existed already and caused the refusal. It returns false
// if no row of table t caused the refusal.
func (r *Refusal) Existing(t *db.Table) (db.Record, bool) {
	i := slices.IndexFunc(r.Rows, func(row db.Record) bool { return row.Table == t })
	if i < 0 {
		return db.Record{}, false
	}
	return r.Rows[i], true
}

// Book is the ledger of all companies in a database.
type Book struct {
	db    *db.DB
	run   func(ctx context.Context, strokes func(db.Pipeline) error) error // db.DB.Run, which tests replace
	clock clock.Clock
	onLow OnLowBalance

	divided func() bool // db.DB.IsDivided, which tests replace

	queue     *batch.Queue[*pending] // the units of the companies at the place ""
	elsewhere sync.Map               // the queues of other places (queueOf)

	timeout time.Duration
	slow    time.Duration // after which a second batch of a place begins (queueOf)
	figures *figures

	proven sync.Map // by place: the value of db.DB.Doubts, a uint64, that was read before the last successful commit there

	mu        sync.RWMutex
	listeners []func(companies []string)
	appended  []rowListener
}

// rowListener is a function that receives the rows of a table that a batch has inserted.
type rowListener struct {
	table *db.Table
	fn    func(rows [][]any)
}

// New returns the ledger in a database, which must have a signer (db.DB.SignWith). It does not report
// low balances.
func New(d *db.DB, c clock.Clock) *Book { return WithAlerts(d, c, nil) }

// WithAlerts returns the ledger in a database. It calls onLow for each low balance.
func WithAlerts(d *db.DB, c clock.Clock, onLow OnLowBalance) *Book {
	if d.Signer() == nil {
		panic("ledger: the database has no evidence key")
	}
	b := &Book{db: d, run: d.Run, divided: d.IsDivided, clock: c, onLow: onLow, timeout: timeout, slow: slow, figures: newFigures()}
	b.queue = b.newQueue(maxWaiting)
	return b
}

// Committed registers the function fn. After each commit, the ledger calls fn with the companies of
// the committed batch. The commit waits for fn, so fn must not wait.
func (b *Book) Committed(fn func(companies []string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, fn)
}

// Appended registers the function fn. After each commit that inserts rows into the table t, the
// ledger calls fn with these rows. The commit waits for fn, so fn must not wait.
func (b *Book) Appended(t *db.Table, fn func(rows [][]any)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.appended = append(b.appended, rowListener{t, fn})
}

// Commit commits the unit, or returns why it did not. If the ledger refuses the unit, the error is
// a *Refusal. If the database is away and nothing was committed, the error is a fault of kind
// Unavailable. If the outcome is unknown, it is a fault of kind Unknown.
//
// Commit waits for the result even after the end of ctx. It waits no longer than ctx allows it to
// wait for the database (db.Within).
func (b *Book) Commit(ctx context.Context, u Unit) error {
	if err := u.check(); err != nil {
		return err
	}
	err := b.send(ctx, u)
	b.figures.count(err)
	for _, fn := range u.then {
		if err == nil {
			fn()
		}
	}
	return err
}

// send puts a unit into the queue and waits for the result.
func (b *Book) send(ctx context.Context, u Unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wait := db.Await(ctx)
	defer wait.End()
	p := &pending{unit: u, done: make(chan error, 1)}
	queue := b.queueOf(u.Company)
	if !queue.Add(p) {
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errFull)
	}
	select {
	case err := <-p.done:
		return err
	case <-wait.Over:
		err := p.leave()
		queue.Withdraw(p)
		return err
	}
}

// Prove returns nil when every row that the database has shown is durably committed, on the standby
// too. A caller that has read a row without a unit calls Prove before it sends the row in a
// response. While there is no doubt (db.DB.Doubts), Prove costs only one comparison. SQLite never
// has a doubt. Otherwise Prove costs one commit. If that commit does not succeed in the caller's
// time, Prove returns a fault of kind Unavailable.
//
// One successful commit proves the rows of all companies at its place (db.DB.Place), because a standby
// receives commits in their order. The standby of another place does not receive it.
func (b *Book) Prove(ctx context.Context, company string) error {
	if b.certain(b.db.Place(company), b.db.Doubts()) {
		return nil
	}
	return b.send(ctx, Unit{Company: company, proof: true})
}

// certain reports whether a commit has succeeded at a place since the last doubt about any place.
func (b *Book) certain(place string, doubts uint64) bool {
	proven, _ := b.proven.Load(place)
	last, _ := proven.(uint64)
	return last == doubts
}

// succeeded notes a successful commit at a place. The doubts were counted before the commit.
func (b *Book) succeeded(place string, doubts uint64) {
	if !b.certain(place, doubts) {
		b.proven.Store(place, doubts)
	}
}

// Drain waits until no batch is running. After Drain, no Commit may begin.
func (b *Book) Drain() {
	for queue := range b.queues() {
		queue.Drain()
	}
}
