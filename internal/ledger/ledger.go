// Package ledger is the double-entry book, and the only place where money, or
// anything that must change together with money, is written.
//
// A change is a Unit: a journal entry with its paperwork, declared as data. A
// unit is accepted whole or refused whole. Units that arrive together share one
// transaction, and one that is refused never harms its neighbours.
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

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Unit is one change of a company's rows, with or without money. Everything in
// it happens, or nothing does.
type Unit struct {
	// Company is whose rows these are; every record must carry it.
	Company string
	// Found makes the company's head row: the very first unit of a company.
	Found bool
	// Open names accounts that exist from here on; one that exists already is
	// left as it is.
	Open []Account
	// Claims are rows that must be new. If one exists the unit is refused and
	// the refusal carries the row that is there.
	Claims []db.Record
	// Moves are guarded changes of state.
	Moves []Move
	// Tallies are running sums to add to, and not to exceed.
	Tallies []Tally
	// Transfers are made in this order.
	Transfers []Transfer
	// Alerts are set after the transfers.
	Alerts []Alert
	// Notes are rows to append if the unit is accepted: events, jobs, audit.
	Notes []db.Record

	proof bool // it does nothing and waits for a proof; see Book.Prove
}

// Account is a line of the book.
type Account struct {
	ID    string
	Floor money.Kobo // the balance never goes below; money.NoFloor for none
}

// Transfer is one immutable debit and credit.
type Transfer struct {
	Reference string // what it belongs to: an operation, a credit, a correction
	Step      string // which of the reference's; "" for the first, or only, one. No step is taken twice
	Debit     string // account that pays
	Credit    string // account that receives
	Amount    money.Kobo
	Leave     money.Kobo // the debit account must keep at least this much; 0 leaves it to the floor
	Kind      string     // a word for statements: vtu, payout, credit, adjustment …
	Narration string
}

// Move changes a row from one of some states to another, together with other
// columns. The row is named by its whole primary key.
type Move struct {
	Table *db.Table
	Key   []any
	From  []string
	Still []Change // what else the row must hold: as it was when this was decided
	To    string
	Set   []Change
}

// Overwrite is the move that writes a whole row over the one that was read in
// this state, if it is still in it.
func Overwrite(r db.Record, from string) Move {
	m := Move{Table: r.Table, Key: r.Values[:r.Table.Key], From: []string{from}}
	for i, c := range r.Table.Columns {
		switch {
		case c.Name == r.Table.State:
			m.To, _ = r.Values[i].(string)
		case i >= r.Table.Key:
			m.Set = append(m.Set, Change{Column: c.Name, Value: r.Values[i]})
		}
	}
	return m
}

// Change is a new value of one column, a string or an int64.
type Change struct {
	Column string
	Value  any
}

// Next stands, in a note, for the next number of one of the company's dense
// sequences (1, 2, 3 … without a gap), by the sequence's name. The unit's notes
// are numbered in their order.
type Next string

// Tally adds to one of the company's running sums, by its name: how much was
// paid out on a day, say. It is decided under the same lock as the money, so a
// limit holds however many try at once.
type Tally struct {
	Name string
	Add  int64 // less than 0 gives back what was added; a sum never goes below 0
	Most int64 // the sum may not exceed it by this addition; 0 for no limit
	// An addition of 0 adds nothing: the unit is refused if the sum is above Most,
	// of 0 too.
}

// Sequence is the next number of the company's events.
const Sequence Next = "event"

type instant struct{}

// Now stands, in a note, for the instant that the book gives the unit: that of
// its entries. It is given under the company's lock, so what has a later number
// never has an earlier instant.
var Now = instant{}

// Reason is why a unit was refused.
type Reason string

// The reasons.
const (
	Exists    Reason = "exists"     // a claim is not new
	Moved     Reason = "moved"      // a row is not in a state it may be moved from, or not as it was
	Short     Reason = "short"      // an account would go below what it must keep
	Over      Reason = "over"       // a tally would exceed its limit
	NoAccount Reason = "no account" // a transfer names an account that does not exist
	NoCompany Reason = "no company" // the company has no head row
)

// Refusal says why a unit was refused. Nothing of the unit was written.
type Refusal struct {
	Reason  Reason
	Row     db.Record  // Exists: the row that is there
	Table   *db.Table  // Moved: where
	State   string     // Moved: the state the row is in; "" when there is no such row
	Account string     // Short, NoAccount
	Balance money.Kobo // Short: what the account holds
	Tally   Tally      // Over: which
}

// Error is the refusal in words.
func (r *Refusal) Error() string {
	switch r.Reason {
	case Exists:
		return fmt.Sprintf("ledger: a row of %s exists already", r.Row.Table.Name)
	case Moved:
		return fmt.Sprintf("ledger: the row is in state %q", r.State)
	case Short, NoAccount:
		return fmt.Sprintf("ledger: %s: %s", r.Reason, r.Account)
	case Over:
		return fmt.Sprintf("ledger: %s would exceed %d", r.Tally.Name, r.Tally.Most)
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
	table := r.Table
	if why == Exists {
		table = r.Row.Table
	}
	return len(of) == 0 || slices.Contains(of, table)
}

// Book is the ledger of all companies in one database.
type Book struct {
	db    *db.DB
	run   func(ctx context.Context, strokes func(db.Pipeline) error) error // of db
	clock clock.Clock
	lanes []lane

	patience time.Duration

	proven atomic.Uint64 // the database's doubts at the begin of the last clean write

	watcher Watcher

	mu        sync.RWMutex
	listeners []func(companies []string)
}

// New opens the book.
func New(d *db.DB, c clock.Clock) *Book {
	b := &Book{db: d, run: d.Run, clock: c, lanes: make([]lane, lanes(d.Dialect())), patience: patience}
	for i := range b.lanes {
		b.lanes[i].book, b.lanes[i].crowd = b, crowd
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
	if err := l.add(p); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		return err
	case <-wait.Over:
		return l.withdraw(p)
	}
}

// Drain waits until nothing is being committed. No Commit may begin after it.
func (b *Book) Drain() {
	for i := range b.lanes {
		b.lanes[i].idle.Wait()
	}
}

func (b *Book) lane(company string) *lane {
	sum := uint32(2166136261) // FNV-1a
	for _, c := range []byte(company) {
		sum = (sum ^ uint32(c)) * 16777619
	}
	return &b.lanes[sum%uint32(len(b.lanes))]
}

// check finds mistakes that no state of the book could make right.
func (u Unit) check() error {
	if u.Company == "" {
		return errors.New("ledger: a unit without a company")
	}
	if len(u.Open)+len(u.Claims)+len(u.Moves)+len(u.Transfers)+len(u.Alerts)+len(u.Notes) == 0 && !u.Found {
		return errors.New("ledger: a unit that does nothing")
	}
	for _, t := range u.Transfers {
		if t.Amount <= 0 || t.Reference == "" || t.Debit == t.Credit {
			return fmt.Errorf("ledger: not a transfer: %q %q → %q %d", t.Reference, t.Debit, t.Credit, t.Amount)
		}
	}
	for _, set := range [][]db.Record{u.Claims, u.Notes} {
		for _, r := range set {
			if len(r.Values) != len(r.Table.Columns) || r.Values[0] != u.Company {
				return fmt.Errorf("ledger: a row of %s that is not this company's", r.Table.Name)
			}
		}
	}
	for _, m := range u.Moves {
		if len(m.Key) != m.Table.Key || m.Key[0] != u.Company || m.Table.State == "" {
			return fmt.Errorf("ledger: a move in %s that is not this company's", m.Table.Name)
		}
	}
	return nil
}

// witness is a row without money that the unit, once accepted, has written. A
// unit that only moves rows has none.
func (u Unit) witness() (db.Record, bool) {
	for _, set := range [][]db.Record{u.Notes, u.Claims} {
		for _, r := range set {
			if !r.Table.Lenient {
				return r, true
			}
		}
	}
	return db.Record{}, false
}
