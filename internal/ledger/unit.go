package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
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

// IsEmpty tells whether the unit would do nothing: an addition to a limit counter
// alone is nothing.
func (u *Unit) IsEmpty() bool {
	return len(u.Open)+len(u.Claims)+len(u.Moves)+len(u.Transfers)+len(u.Alerts)+len(u.Notes) == 0 && !u.Found
}

// For is a unit of a company that does nothing yet.
func For(company string) Unit { return Unit{Company: company} }

// Found is a unit that makes a company's lock row.
func Found(company string) Unit {
	u := For(company)
	u.FoundCompany()
	return u
}

// FoundCompany makes the company's lock row: the very first unit of a company.
func (u *Unit) FoundCompany() { u.Found = true }

// OpenAccounts names accounts that exist from here on. An account that exists
// already is left as it is.
func (u *Unit) OpenAccounts(accounts ...Account) { u.Open = append(u.Open, accounts...) }

// Insert adds rows that must be new. If the ledger has one of them already it
// refuses the unit, and the refusal carries the row that is there.
func (u *Unit) Insert(rows ...db.Record) { u.Claims = append(u.Claims, rows...) }

// Append adds rows that nobody looks for. Their fields may hold Next and Now.
func (u *Unit) Append(rows ...db.Record) { u.Notes = append(u.Notes, rows...) }

// Enqueue puts a job of the company on the to-do list.
func (u *Unit) Enqueue(j job.Job) {
	j.Company = u.Company
	u.Append(j.Record())
}

// Transition changes the row with r's key from one of some states to the state that
// r has, and writes the changing columns of r. The unit is refused if the row is in
// another state.
func (u *Unit) Transition(r db.Record, from ...string) *Move {
	m := Move{Table: r.Table, Key: r.Values[:r.Table.Key], From: from}
	m.To, _ = r.Value(r.Table.State).(string)
	for _, i := range r.Table.Changing {
		m.Set = append(m.Set, Change{Column: r.Table.Columns[i].Name, Value: r.Values[i]})
	}
	u.Moves = append(u.Moves, m)
	return &u.Moves[len(u.Moves)-1]
}

// Update writes the changing columns of r over the row of the version before r's.
// The unit is refused if somebody else has changed the row meanwhile.
func (u *Unit) Update(r db.Record) *Move {
	version, _ := r.Value(r.Table.State).(string)
	n, err := strconv.ParseInt(version, 10, 64)
	if !r.Table.Version || err != nil {
		panic("ledger: " + r.Table.Name + " has no versions")
	}
	return u.Transition(r, strconv.FormatInt(n-1, 10))
}

// Expect adds what else the row must hold for its transition.
func (m *Move) Expect(column string, value any) *Move {
	m.Still = append(m.Still, Change{Column: column, Value: value})
	return m
}

// Only keeps, of the columns that the transition writes, the named ones.
func (m *Move) Only(columns ...string) *Move {
	m.Set = slices.DeleteFunc(m.Set, func(c Change) bool { return !slices.Contains(columns, c.Column) })
	return m
}

// Transfer adds transfers, made in their order.
func (u *Unit) Transfer(transfers ...Transfer) { u.Transfers = append(u.Transfers, transfers...) }

// Count adds to one of the company's limit counters, by its name. The unit is
// refused if the sum would exceed limit; 0 is no limit. An addition less than 0
// gives back what was added before, and an addition of 0 only compares the sum with
// the limit, of 0 too. A sum never goes below 0.
func (u *Unit) Count(name string, add, limit int64) {
	u.Tallies = append(u.Tallies, Tally{Name: name, Add: add, Most: limit})
}

// SetAlert sets how low an account may get before somebody is told; 0 for no alert.
func (u *Unit) SetAlert(account string, below money.Kobo) {
	u.Alerts = append(u.Alerts, Alert{Account: account, Below: below})
}

// check finds mistakes that no state of the book could make right.
func (u Unit) check() error {
	if u.Company == "" {
		return errors.New("ledger: a unit without a company")
	}
	if u.IsEmpty() {
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
