package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Unit is one change of a company's rows, with or without money: a journal entry and
// everything that belongs to it, as data. The ledger accepts it whole or refuses it.
type Unit struct {
	Company string // the company of all its rows

	found       bool         // the unit inserts the company's lock row: the very first unit of a company
	open        []Account    // accounts that exist from here on
	inserts     []db.Record  // rows that must be new
	transitions []Transition // guarded changes of rows
	counts      []Count      // additions to limit counters
	transfers   []Transfer   // in their order
	alerts      []alert      // set after the transfers
	appended    []db.Record  // other rows: events, jobs, audit
	proof       bool         // the unit does nothing and waits for a proof; see Book.Prove
}

// Account is an account of the ledger.
type Account struct {
	ID    string
	Floor money.Kobo // the balance never goes below; money.NoFloor for none
}

// Transfer is one immutable debit and credit.
type Transfer struct {
	Reference string // the operation, credit or correction of the transfer
	Step      string // a step of the reference, "" for the first one. No step happens twice
	Debit     string // account that pays
	Credit    string // account that receives
	Amount    money.Kobo
	Leave     money.Kobo // the debit account must keep at least this much; 0 leaves it to the floor
	Kind      string     // a word for statements: vtu, payout, credit, adjustment …
	Narration string
}

// Transition changes one row from one of some states to another, together with other
// columns. The row is named by its whole primary key.
type Transition struct {
	table    *db.Table
	key      []any
	row      string // the key as one text
	from     []string
	expected []change // other values that the row must still have
	to       string
	set      []change
}

// change is a value of one column, a string or an int64.
type change struct {
	column string
	value  any
}

// alert is the amount below which an account is reported; 0 for none.
type alert struct {
	account string
	below   money.Kobo
}

// Next stands, in an appended row, for the next number of one of the company's dense
// sequences (1, 2, 3 … without a gap), by the sequence's name. The appended rows of a
// unit are numbered in their order.
type Next string

// Count is an addition to one of the company's limit counters, such as what was paid
// out on a day. It is decided under the same lock as the money, so a limit holds
// however many requests run at once.
type Count struct {
	Name  string
	Add   int64 // less than 0 gives back what was added; a sum never goes below 0
	Limit int64 // the addition may not take the sum above it; 0 for no limit
	// An addition of 0 adds nothing. It refuses the unit if the sum is above Limit,
	// of 0 too.
}

// Sequence is the next number of the company's events.
const Sequence Next = "event"

type instant struct{}

// Now stands, in an appended row, for the instant that the ledger gives the unit and
// its entries. The ledger gives it under the company's lock, so a later number never
// has an earlier instant.
var Now = instant{}

// IsEmpty reports whether the unit would do nothing: an addition to a limit counter
// alone is nothing.
func (u *Unit) IsEmpty() bool {
	return len(u.open)+len(u.inserts)+len(u.transitions)+len(u.transfers)+len(u.alerts)+len(u.appended) == 0 && !u.found
}

// For returns a unit of a company that does nothing yet.
func For(company string) Unit { return Unit{Company: company} }

// Found returns the very first unit of a company. It makes the company's lock row.
func Found(company string) Unit { return Unit{Company: company, found: true} }

// OpenAccounts names accounts that exist from here on. An account that exists
// already is left as it is.
func (u *Unit) OpenAccounts(accounts ...Account) { u.open = append(u.open, accounts...) }

// Insert adds rows that must be new. If the ledger has one of them already it
// refuses the unit, and the refusal carries the row that is there.
func (u *Unit) Insert(rows ...db.Record) { u.inserts = append(u.inserts, rows...) }

// Append adds rows that need not be new. Their fields may hold Next and Now.
func (u *Unit) Append(rows ...db.Record) { u.appended = append(u.appended, rows...) }

// Transition changes the row with r's key from one of some states to the state that
// r has, and writes the changing columns of r. The unit is refused if the row is in
// another state.
func (u *Unit) Transition(r db.Record, from ...string) *Transition {
	key := r.Values[:r.Table.Key]
	t := Transition{table: r.Table, key: key, row: keyOf(key), from: from}
	t.to, _ = r.Value(r.Table.State).(string)
	for _, i := range r.Table.Changing {
		t.set = append(t.set, change{r.Table.Columns[i].Name, r.Values[i]})
	}
	u.transitions = append(u.transitions, t)
	return &u.transitions[len(u.transitions)-1]
}

// Update writes the changing columns of r over the row of the version before r's.
// The unit is refused if another unit has changed the row meanwhile.
func (u *Unit) Update(r db.Record) *Transition {
	version, _ := r.Value(r.Table.State).(string)
	n, err := strconv.ParseInt(version, 10, 64)
	if !r.Table.Version || err != nil {
		panic("ledger: " + r.Table.Name + " has no versions")
	}
	return u.Transition(r, strconv.FormatInt(n-1, 10))
}

// Expect adds a value that the row must have for its transition.
func (t *Transition) Expect(column string, value any) *Transition {
	t.expected = append(t.expected, change{column, value})
	return t
}

// Only has the transition write the named columns and no others.
func (t *Transition) Only(columns ...string) *Transition {
	t.set = slices.DeleteFunc(t.set, func(c change) bool { return !slices.Contains(columns, c.column) })
	return t
}

// Transfer adds transfers, made in their order.
func (u *Unit) Transfer(transfers ...Transfer) { u.transfers = append(u.transfers, transfers...) }

// Count adds to one of the company's limit counters, by its name. The unit is
// refused if the sum would exceed limit; 0 is no limit. An addition less than 0
// gives back what was added before, and an addition of 0 only compares the sum with
// the limit, of 0 too. A sum never goes below 0.
func (u *Unit) Count(name string, add, limit int64) {
	u.counts = append(u.counts, Count{name, add, limit})
}

// SetAlert sets the amount below which an account has a low balance (OnLowBalance); 0 for
// no alert.
func (u *Unit) SetAlert(account string, below money.Kobo) {
	u.alerts = append(u.alerts, alert{account, below})
}

// check finds mistakes that are wrong in every state of the ledger.
func (u *Unit) check() error {
	if u.Company == "" {
		return errors.New("ledger: a unit without a company")
	}
	if u.IsEmpty() {
		return errors.New("ledger: a unit that does nothing")
	}
	for _, t := range u.transfers {
		if t.Amount <= 0 || t.Reference == "" || t.Debit == t.Credit {
			return fmt.Errorf("ledger: not a transfer: %q %q → %q %d", t.Reference, t.Debit, t.Credit, t.Amount)
		}
	}
	for _, set := range [][]db.Record{u.inserts, u.appended} {
		for _, r := range set {
			if len(r.Values) != len(r.Table.Columns) || r.Values[0] != u.Company {
				return fmt.Errorf("ledger: a row of %s that is not this company's", r.Table.Name)
			}
		}
	}
	for _, m := range u.transitions {
		if len(m.key) != m.table.Key || m.key[0] != u.Company || m.table.State == "" {
			return fmt.Errorf("ledger: a transition in %s that is not this company's", m.table.Name)
		}
	}
	return nil
}

// witness returns a row without money that the accepted unit inserts. A unit that only changes
// rows has none.
func (u *Unit) witness() (db.Record, bool) {
	for _, set := range [][]db.Record{u.appended, u.inserts} {
		for _, r := range set {
			if !r.Table.Lenient {
				return r, true
			}
		}
	}
	return db.Record{}, false
}
