package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// decision is a batch being decided: what its units name, what the database
// says of that, and what follows. With the lock rows locked, nothing that it reads
// can change before it commits, so it decides with certainty.
type decision struct {
	watched   bool // somebody wants to know of falls
	companies []string
	heads     map[string]*head
	counters  map[counterKey]*counter
	accounts  map[accountKey]*account
	uniques   map[string]*uniqueSet // by table
	guards    map[string]*guardSet  // by table
	order     []*db.Table           // tables in the order in which they were named

	stamp     int64 // in each transfer of the batch, and in no other
	accepted  []*pending
	refused   []refusal
	late      []*pending
	falls     []Fall
	transfers [][]any
	entries   [][]any
	inserts   map[*db.Table][][]any
	inserted  []*db.Table
	updates   map[string]*db.Write
	updated   []string
}

type refusal struct {
	who *pending
	why error
}

type head struct {
	found    bool // there is such a row
	founded  bool // this batch makes it
	changed  bool // its number or its instant is another
	restated bool // it is written as it is
	sequence int64
	dated    int64 // the instant that the row holds
	at       int64 // the instant of the batch in this company
}

type counterKey struct{ company, name string }

// counter is a limit counter, or a dense sequence. The lock row holds the sequence
// of the events.
type counter struct {
	found         bool
	value, before int64
}

type accountKey struct{ company, id string }

type account struct {
	found, opened, changed bool
	floor, alert, balance  money.Kobo
	sequence               int64
}

// uniqueSet is what a batch inserts once into one table, by unique key.
type uniqueSet struct {
	keys [][]any
	rows map[string]db.Record // rows that are there, or that this batch makes
}

func newDecision(watched bool) *decision {
	return &decision{
		watched: watched, stamp: rand.Int64(),
		heads: map[string]*head{}, counters: map[counterKey]*counter{}, accounts: map[accountKey]*account{},
		uniques: map[string]*uniqueSet{}, guards: map[string]*guardSet{},
		inserts: map[*db.Table][][]any{}, updates: map[string]*db.Write{},
	}
}

func keyOf(values []any) string {
	b := make([]byte, 0, 128)
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b = append(b, v...)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		default:
			b = fmt.Append(b, v)
		}
		b = append(b, 0)
	}
	return string(b)
}

// uniqueOf is what must be new in a row that is inserted once, or nil when the row
// is always new.
func uniqueOf(r db.Record) []any {
	by := r.Table.UniqueNames()
	key := make([]any, len(by))
	for i, n := range by {
		key[i] = r.Value(n)
	}
	if r.Table.IfGiven && key[len(key)-1] == "" {
		return nil
	}
	return key
}

// name collects everything that decides about the unit.
func (d *decision) name(u Unit) {
	if d.heads[u.Company] == nil {
		d.heads[u.Company] = &head{}
		d.companies = append(d.companies, u.Company)
	}
	for _, a := range u.open {
		d.nameAccount(u.Company, a.ID)
	}
	for _, t := range u.transfers {
		d.nameAccount(u.Company, t.Debit)
		d.nameAccount(u.Company, t.Credit)
	}
	for _, a := range u.alerts {
		d.nameAccount(u.Company, a.account)
	}
	for _, r := range u.inserts {
		d.nameInsert(r)
	}
	for _, m := range u.transitions {
		d.nameTransition(m)
	}
	for _, t := range u.counts {
		d.nameCounter(u.Company, t.Name)
	}
	for _, r := range u.appended {
		for _, v := range r.Values {
			if n, ok := v.(Next); ok && n != Sequence {
				d.nameCounter(u.Company, string(n))
			}
		}
	}
}

func (d *decision) nameCounter(company, name string) {
	key := counterKey{company, name}
	if d.counters[key] == nil {
		d.counters[key] = &counter{}
	}
}

func (d *decision) nameAccount(company, id string) {
	key := accountKey{company, id}
	if d.accounts[key] == nil {
		d.accounts[key] = &account{}
	}
}

func (d *decision) nameInsert(r db.Record) {
	set := d.uniques[r.Table.Name]
	if set == nil {
		set = &uniqueSet{rows: map[string]db.Record{}}
		d.uniques[r.Table.Name] = set
		d.order = append(d.order, r.Table)
	}
	if key := uniqueOf(r); key != nil {
		set.keys = append(set.keys, key)
	}
}

func (d *decision) headLookup() db.Lookup {
	slices.Sort(d.companies)
	keys := make([][]any, len(d.companies))
	for i, c := range d.companies {
		keys[i] = []any{c}
	}
	return db.Lookup{
		Table: headTable, By: headTable.KeyNames(), Columns: []string{"event_sequence", "dated_at"}, Keys: keys, Lock: true,
		Found: func(row []any) error {
			h := d.heads[row[0].(string)]
			h.found, h.sequence, h.dated = true, row[1].(int64), row[2].(int64)
			h.at = h.dated
			return nil
		},
	}
}

func (d *decision) counterLookup() db.Lookup {
	keys := make([][]any, 0, len(d.counters))
	for k := range d.counters {
		keys = append(keys, []any{k.company, k.name})
	}
	return db.Lookup{
		Table: counterTable, By: counterTable.KeyNames(), Columns: []string{"value"}, Keys: keys,
		Found: func(row []any) error {
			v := row[2].(int64)
			*d.counters[counterKey{row[0].(string), row[1].(string)}] = counter{true, v, v}
			return nil
		},
	}
}

// lookups reads everything named. The lock rows come first: the commit finds
// what is read after their lock.
func (d *decision) lookups() []db.Lookup {
	accounts := make([][]any, 0, len(d.accounts))
	for k := range d.accounts {
		accounts = append(accounts, []any{k.company, k.id})
	}
	out := []db.Lookup{d.headLookup(), d.counterLookup(), {
		Table: accountTable, By: accountTable.KeyNames(),
		Columns: []string{"floor_kobo", "alert_kobo", "balance_kobo", "entry_sequence"}, Keys: accounts,
		Found: func(row []any) error {
			*d.accounts[accountKey{row[0].(string), row[1].(string)}] = account{
				found: true, floor: money.Kobo(row[2].(int64)), alert: money.Kobo(row[3].(int64)),
				balance: money.Kobo(row[4].(int64)), sequence: row[5].(int64),
			}
			return nil
		},
	}}
	for _, t := range d.order {
		set := d.uniques[t.Name]
		by := t.UniqueNames()
		out = append(out, db.Lookup{
			Table: t, By: by, Columns: t.Names(), Keys: set.keys, Present: givenColumn(t, by),
			Found: func(row []any) error {
				set.rows[keyOf(row[:len(by)])] = db.Record{Table: t, Values: row[len(by):]}
				return nil
			},
		})
	}
	for _, set := range d.guards {
		out = append(out, set.lookup())
	}
	return out
}

// givenColumn is the unique column that the looked-up rows have not left empty.
func givenColumn(t *db.Table, by []string) string {
	if t.IfGiven {
		return by[len(by)-1]
	}
	return ""
}

// decide accepts a unit, refuses it, or leaves it for the next batch. It drops one
// whose caller has gone.
func (d *decision) decide(w *pending) {
	u := w.unit
	if d.mustWait(u) {
		d.late = append(d.late, w)
		return
	}
	if why := d.objection(u); why != nil || u.proof {
		d.refused = append(d.refused, refusal{w, why})
		return
	}
	if w.take() {
		d.accept(w)
	}
}

// mustWait: a row that this batch has just written is not read again before it
// is committed.
func (d *decision) mustWait(u Unit) bool {
	for _, m := range u.transitions {
		if d.guards[m.table.Name].fresh[keyOf(m.key)] {
			return true
		}
	}
	return false
}

// objection is why the unit cannot be accepted, or nil. It changes nothing.
func (d *decision) objection(u Unit) error {
	if h := d.heads[u.Company]; !h.found && !h.founded && !u.found {
		return &Refusal{Reason: NoCompany}
	}
	if rows := d.existing(u); rows != nil {
		return &Refusal{Reason: Exists, Rows: rows}
	}
	for _, m := range u.transitions {
		if set := d.guards[m.table.Name]; !set.fits(m) {
			return &Refusal{Reason: Moved, Table: m.table, State: set.states[keyOf(m.key)]}
		}
	}
	for _, a := range u.alerts {
		if there := d.accounts[accountKey{u.Company, a.account}]; !there.found && !there.opened {
			return &Refusal{Reason: NoAccount, Account: a.account}
		}
	}
	if t, over := d.excess(u); over {
		return &Refusal{Reason: Over, Count: t}
	}
	return d.shortfall(u)
}

// existing are the rows that are where the unit would insert its own once.
func (d *decision) existing(u Unit) (rows []db.Record) {
	for _, r := range u.inserts {
		if key := uniqueOf(r); key != nil {
			if row, there := d.uniques[r.Table.Name].rows[keyOf(key)]; there {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// excess is a limit counter that the unit would take above its limit.
func (d *decision) excess(u Unit) (Count, bool) {
	for i, t := range u.counts {
		sum := d.counters[counterKey{u.Company, t.Name}].value
		for _, earlier := range u.counts[:i] {
			if earlier.Name == t.Name {
				sum += earlier.Add
			}
		}
		// Written so that it cannot overflow: sum + add > most.
		limited := t.Add == 0 || t.Add > 0 && t.Limit > 0
		if limited && sum > t.Limit-t.Add {
			return t, true
		}
	}
	return Count{}, false
}

// shortfall plays the transfers through on copies of the accounts.
func (d *decision) shortfall(u Unit) error {
	if len(u.transfers) == 0 {
		return nil
	}
	trial := make(map[string]account, 4)
	at := func(id string) (account, bool) {
		if a, ok := trial[id]; ok {
			return a, true
		}
		if a := d.accounts[accountKey{u.Company, id}]; a.found || a.opened {
			return *a, true
		}
		for _, o := range u.open {
			if o.ID == id {
				return account{floor: o.Floor}, true
			}
		}
		return account{}, false
	}
	for _, t := range u.transfers {
		debit, ok := at(t.Debit)
		if !ok {
			return &Refusal{Reason: NoAccount, Account: t.Debit}
		}
		credit, ok := at(t.Credit)
		if !ok {
			return &Refusal{Reason: NoAccount, Account: t.Credit}
		}
		least := debit.floor
		if t.Leave > 0 {
			least = max(least, t.Leave)
		}
		// Written so that it cannot overflow: balance - least < amount.
		if debit.balance < least || least != money.NoFloor && debit.balance-least < t.Amount {
			return &Refusal{Reason: Short, Account: t.Debit, Balance: debit.balance}
		}
		if credit.balance > math.MaxInt64-t.Amount || debit.balance < math.MinInt64+t.Amount {
			return fmt.Errorf("ledger: %s or %s would overflow", t.Debit, t.Credit)
		}
		debit.balance -= t.Amount
		credit.balance += t.Amount
		trial[t.Debit], trial[t.Credit] = debit, credit
	}
	return nil
}
