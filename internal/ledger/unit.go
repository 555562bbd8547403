package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// Unit is one change of a company's rows, with or without money. It contains a journal entry and
// all rows that belong to it. The ledger accepts or refuses it as a whole.
type Unit struct {
	Company string // the company of all rows of the unit

	found       bool         // this is the company's very first unit, and it inserts the company's lock row
	open        []Account    // accounts that the unit opens, unless they exist
	inserts     []db.Record  // rows that must not exist yet
	transitions []Transition // changes of rows that must be in an expected state
	counts      []Count      // additions to limit counters, such as the payouts of a day
	transfers   []Transfer   // transfers, which are made in this order
	alerts      []alert      // alerts, which are set after the transfers
	marks       []mark       // accounts that the unit closes to debits, or opens again
	appended    []db.Record  // other rows, such as events, jobs and the audit log
	removed     []db.Record  // rows to delete, such as jobs; only their keys count
	proof       bool         // the unit changes nothing and only waits for a proof (Book.Prove)
	then        []func()     // functions that Commit calls after it has committed the unit
}

// Account is a ledger account that a unit opens.
type Account struct {
	ID    string
	Floor money.Kobo // the lowest balance of the account; money.NoFloor means that there is none
}

// Transfer debits one account and credits another. It never changes.
type Transfer struct {
	Reference string // the operation, credit or correction that the transfer belongs to
	Step      string // the step of the reference; "" for the first step. Each step can be booked only once
	Debit     string // the account that pays
	Credit    string // the account that receives
	Amount    money.Kobo
	Leave     money.Kobo // the debit account must keep at least this amount; with 0, only its floor counts
	Kind      string     // a word for statements, such as vtu, payout, credit or adjustment
	Narration string
	// Correction means that operators correct a balance. So the transfer may debit an account that is
	// closed to debits.
	Correction bool
}

// Transition changes the state of one row, and perhaps other columns. The row must be in one of the
// states that the transition names. The row is named by its whole primary key.
type Transition struct {
	table    *db.Table
	key      []any
	row      string // the key as one string
	from     []string
	expected []change // further values that the row must have
	still    bool     // the row only has to be in the expected state, and does not change
	to       string
	set      []change
}

// change is the value of one column. The value is a string or an int64.
type change struct {
	column string
	value  any
}

// alert is an account with the amount below which its balance is reported as low; 0 means no alert.
type alert struct {
	account string
	below   money.Kobo
}

// Next is a placeholder in an appended row. The ledger replaces it with the next number (1, 2, 3 …
// without a gap) of the company's dense sequence of that name. It numbers the appended rows of a
// unit in their order.
type Next string

// Count is an addition to one of the company's limit counters, such as the sum of the payouts of a
// day. The ledger decides it under the same lock as the money, so a limit holds however many
// requests run concurrently.
type Count struct {
	Name  string
	Add   int64 // a negative number takes back earlier additions, but the sum never falls below 0
	Limit int64 // the highest sum that the addition may reach; 0 means no limit
	// If Add is 0, the sum does not change, but the unit is refused if the sum is above Limit. In
	// this case a Limit of 0 is a limit too.
}

// Sequence is the placeholder for the next number of the company's events.
const Sequence Next = "event"

// Numbered is a placeholder in an appended row, after the placeholder Sequence. The ledger replaces
// it with the result of the function for the number of the event.
type Numbered func(sequence int64) string

type instant struct{}

// Now is a placeholder in an appended row. The ledger replaces it with the instant of the unit and
// its entries. The ledger determines the instant under the company's lock, so a later number never
// has an earlier instant.
var Now = instant{}

// IsEmpty reports whether the unit does nothing. A unit that only adds to limit counters counts as
// empty.
func (u *Unit) IsEmpty() bool {
	return len(u.open)+len(u.inserts)+len(u.transitions)+len(u.transfers)+len(u.alerts)+len(u.marks)+len(u.appended)+len(u.removed) == 0 && !u.found
}

// For returns a unit of a company that does nothing yet.
func For(company string) Unit { return Unit{Company: company} }

// Found returns the very first unit of a company. The unit creates the company's lock row.
func Found(company string) Unit { return Unit{Company: company, found: true} }

// OpenAccounts adds accounts that the unit opens. An account that exists already stays as it is.
func (u *Unit) OpenAccounts(accounts ...Account) { u.open = append(u.open, accounts...) }

// Insert adds rows that must be new. If one of the rows exists already, the ledger refuses the
// unit, and the refusal contains the existing row.
func (u *Unit) Insert(rows ...db.Record) { u.inserts = append(u.inserts, rows...) }

// Append adds rows without checking whether they are new. Their fields may contain Next and Now.
func (u *Unit) Append(rows ...db.Record) { u.appended = append(u.appended, rows...) }

// Remove deletes the rows that have the keys of the given rows. A row that does not exist is
// ignored, because its worker may have deleted it. A batch deletes rows before it inserts rows, so
// a row that the same batch appends stays.
func (u *Unit) Remove(rows ...db.Record) { u.removed = append(u.removed, rows...) }

// Transition changes the row that has the key of r. The row must be in one of the given states. The
// row gets the state of r and the changing columns of r. If the row is in another state, the ledger
// refuses the unit.
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

// Expect makes the ledger refuse the unit unless the row that has the key of r is in one of the
// given states. The row does not change, so any number of such units fit in a batch. A row that does
// not exist counts as in the state "".
func (u *Unit) Expect(r db.Record, states ...string) *Transition {
	key := r.Values[:r.Table.Key]
	u.transitions = append(u.transitions, Transition{table: r.Table, key: key, row: keyOf(key), from: states, still: true})
	return &u.transitions[len(u.transitions)-1]
}

// Then registers the function fn. Commit calls it after it has committed the unit, and before it
// returns. If the unit is refused or its outcome is unknown, fn is never called.
func (u *Unit) Then(fn func()) { u.then = append(u.then, fn) }

// Update writes the changing columns of r over the row, which must have the version before the
// version of r. If another unit has changed the row meanwhile, the ledger refuses the unit.
func (u *Unit) Update(r db.Record) *Transition {
	version, _ := r.Value(r.Table.State).(string)
	n, err := strconv.ParseInt(version, 10, 64)
	if !r.Table.Version || err != nil {
		panic("ledger: " + r.Table.Name + " has no versions")
	}
	return u.Transition(r, strconv.FormatInt(n-1, 10))
}

// Expect adds a value that the row must have. Otherwise the ledger refuses the unit.
func (t *Transition) Expect(column string, value any) *Transition {
	t.expected = append(t.expected, change{column, value})
	return t
}

// Only restricts the transition to the named columns.
func (t *Transition) Only(columns ...string) *Transition {
	t.set = slices.DeleteFunc(t.set, func(c change) bool { return !slices.Contains(columns, c.column) })
	return t
}

// Transfer adds transfers, which are made in their order.
func (u *Unit) Transfer(transfers ...Transfer) { u.transfers = append(u.transfers, transfers...) }

// Count adds a number to the company's limit counter with the given name. If the sum would exceed
// limit, the ledger refuses the unit. A limit of 0 means no limit. A negative addition takes back
// earlier additions. An addition of 0 only compares the sum with the limit, and then a limit of 0
// counts too. A sum never falls below 0.
func (u *Unit) Count(name string, add, limit int64) {
	u.counts = append(u.counts, Count{name, add, limit})
}

// SetAlert sets the amount below which an account has a low balance (OnLowBalance). An amount of 0
// removes the alert.
func (u *Unit) SetAlert(account string, below money.Kobo) {
	u.alerts = append(u.alerts, alert{account, below})
}

// check returns an error if the unit is wrong whatever the ledger contains.
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
	for _, set := range [][]db.Record{u.inserts, u.appended, u.removed} {
		for _, r := range set {
			if len(r.Values) != len(r.Table.Columns) || r.Values[0] != u.Company {
				return fmt.Errorf("ledger: a row of %s that is not this company's", r.Table.Name)
			}
		}
	}
	for _, r := range u.removed {
		if r.Table.Rights != nil {
			return fmt.Errorf("ledger: a row of %s is removed, which holds rights", r.Table.Name)
		}
	}
	for _, m := range u.transitions {
		if len(m.key) != m.table.Key || m.key[0] != u.Company || m.table.State == "" {
			return fmt.Errorf("ledger: a transition in %s that is not this company's", m.table.Name)
		}
	}
	return nil
}

// witness returns one row, other than a transfer, that the unit inserts if it is accepted. If this
// row is in the database later, the unit was committed. witness returns false for a unit that only
// changes rows, or whose rows may be gone by then.
func (u *Unit) witness() (db.Record, bool) {
	for _, set := range [][]db.Record{u.appended, u.inserts} {
		for _, r := range set {
			if !r.Table.Lenient && !r.Table.Passing {
				return r, true
			}
		}
	}
	return db.Record{}, false
}
