package ledger

import (
	"math/rand/v2"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// decision decides which units of a batch are accepted. It contains the rows that the units name,
// as they are in the database, and the rows to write. The companies' lock rows are locked, so
// nothing that a decision has read can change before the commit.
type decision struct {
	companies []string
	guarded   bool // each batch changes the lock rows, and compares them with what was read (still)
	locks     map[string]*lockRow
	counters  map[counterKey]*counter
	accounts  map[accountKey]*account
	uniques   map[*db.Table]*uniqueSet
	guards    map[*db.Table]*guardSet
	order     []*db.Table // the tables of uniques, in the order in which the units named them

	onLow OnLowBalance
	read  func(lookups ...db.Lookup) error // reads further rows in the transaction of the batch

	signer    db.Signer
	packs     bool   // rows are stored packed (db.Packing)
	content   []byte // a buffer for the content of a row of evidence
	stamp     any    // a random int64 in each transfer of this batch, which no other batch has
	accepted  []*pending
	refused   []refusal
	late      []*pending
	transfers [][]any
	entries   [][]any
	inserts   map[*db.Table][][]any
	inserted  []*db.Table
	updates   map[string]*db.Write
	updated   []string
	deletes   []db.Write // one for each table
	wrote     bool       // the batch has rows to write
}

type refusal struct {
	unit *pending
	why  error
}

// lockRow is the row that a batch locks for each of its companies (ledger_head).
type lockRow struct {
	found    bool // the row exists
	founded  bool // this batch inserts the row
	changed  bool // this batch changes the numbers or the instant of the row
	restated bool // this batch writes the row unchanged
	sequence int64
	leaf     int64 // the number of the company's last row of evidence
	dated    int64 // the instant that the row had when it was read
	at       int64 // the instant of the batch in this company
	rights   rightsOf
}

type counterKey struct{ company, name string }

// counter is a limit counter or a dense sequence. The sequence of the events is not a counter,
// because the lock row stores it.
type counter struct {
	found         bool
	value, before int64
	mac           string
}

type accountKey struct{ company, id string }

type account struct {
	found, opened, changed bool
	marked                 bool // this batch closes the account to debits, or opens it again
	floor, alert, balance  money.Kobo
	before                 money.Kobo // for a debited account, the balance before the unit
	sequence               int64
	closedAt, closedBefore int64  // the instant at which the account was closed to debits; 0 for an open account
	mac                    string // the MAC of the row
}

// uniqueSet is the set of rows of one table that must be new when a batch inserts them.
type uniqueSet struct {
	keys [][]any
	rows map[string]db.Record // the rows that exist or that this batch inserts, by their unique key
}

func newDecision(signer db.Signer, packs bool, onLow OnLowBalance, read func(lookups ...db.Lookup) error) *decision {
	return &decision{
		signer: signer, packs: packs, onLow: onLow, read: read, stamp: rand.Int64(),
		locks: map[string]*lockRow{}, counters: map[counterKey]*counter{}, accounts: map[accountKey]*account{},
		uniques: map[*db.Table]*uniqueSet{}, guards: map[*db.Table]*guardSet{},
		inserts: map[*db.Table][][]any{}, updates: map[string]*db.Write{},
	}
}

// name adds a unit to the decision. It notes the keys of all rows that must be read before the unit
// can be accepted or refused.
func (d *decision) name(w *pending) {
	u := &w.unit
	if d.locks[u.Company] == nil {
		d.locks[u.Company] = &lockRow{}
		d.companies = append(d.companies, u.Company)
	}
	for _, a := range u.open {
		d.account(u.Company, a.ID)
	}
	for _, t := range u.transfers {
		d.account(u.Company, t.Debit)
		d.account(u.Company, t.Credit)
	}
	for _, a := range u.alerts {
		d.account(u.Company, a.account)
	}
	for _, m := range u.marks {
		d.account(u.Company, m.account)
	}
	w.keys = make([]string, len(u.inserts))
	for i, r := range u.inserts {
		w.keys[i] = d.nameInsert(r)
	}
	for i := range u.transitions {
		d.nameTransition(&u.transitions[i])
	}
	for _, t := range u.counts {
		d.counter(u.Company, t.Name)
	}
	for _, r := range u.appended {
		for _, v := range r.Values {
			if n, ok := v.(Next); ok && n != Sequence {
				d.counter(u.Company, string(n))
			}
		}
	}
}

// counter returns a limit counter or a sequence of the batch. The first call for a name adds it to
// the batch.
func (d *decision) counter(company, name string) *counter {
	key := counterKey{company, name}
	c := d.counters[key]
	if c == nil {
		c = &counter{}
		d.counters[key] = c
	}
	return c
}

// account returns an account of the batch. The first call for an ID adds the account to the batch.
func (d *decision) account(company, id string) *account {
	key := accountKey{company, id}
	a := d.accounts[key]
	if a == nil {
		a = &account{}
		d.accounts[key] = a
	}
	return a
}

// nameInsert adds the unique key of an inserted row to the keys that the batch reads, and returns
// this key. It returns "" if the row has no unique key, because uniqueOf returns nil.
func (d *decision) nameInsert(r db.Record) string {
	set := d.uniques[r.Table]
	if set == nil {
		set = &uniqueSet{rows: map[string]db.Record{}}
		d.uniques[r.Table] = set
		d.order = append(d.order, r.Table)
	}
	key := uniqueOf(r)
	if key == nil {
		return ""
	}
	set.keys = append(set.keys, key)
	return keyOf(key)
}

func (d *decision) lockLookup() db.Lookup {
	slices.Sort(d.companies)
	keys := make([][]any, len(d.companies))
	for i, c := range d.companies {
		keys[i] = []any{c}
	}
	return db.Lookup{
		Table: lockTable, By: lockTable.KeyNames(), Columns: lockTable.Names()[1:], Keys: keys, Lock: true,
		Found: func(row []any) error {
			l := d.locks[row[0].(string)]
			l.found, l.sequence, l.dated, l.leaf = true, row[1].(int64), row[2].(int64), row[3].(int64)
			l.at, l.rights.text = l.dated, row[4].(string)
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
		Table: counterTable, By: counterTable.KeyNames(), Columns: []string{"value", "mac"}, Keys: keys,
		Found: func(row []any) error {
			v := row[2].(int64)
			*d.counter(row[0].(string), row[1].(string)) = counter{true, v, v, row[3].(string)}
			return nil
		},
	}
}

// lookups returns the look-ups of all rows that the units name. The lock rows come first. They are
// locked when the other rows are read.
func (d *decision) lookups() []db.Lookup {
	accounts := make([][]any, 0, len(d.accounts))
	for k := range d.accounts {
		accounts = append(accounts, []any{k.company, k.id})
	}
	out := []db.Lookup{d.lockLookup(), d.counterLookup(), {
		Table: accountTable, By: accountTable.KeyNames(),
		Columns: []string{"floor_kobo", "alert_kobo", "balance_kobo", "entry_sequence", "closed_at", "mac"}, Keys: accounts,
		Found: func(row []any) error {
			*d.account(row[0].(string), row[1].(string)) = account{
				found: true, floor: money.Kobo(row[2].(int64)), alert: money.Kobo(row[3].(int64)),
				balance: money.Kobo(row[4].(int64)), sequence: row[5].(int64), closedAt: row[6].(int64), closedBefore: row[6].(int64), mac: row[7].(string),
			}
			return nil
		},
	}}
	for _, t := range d.order {
		set, by := d.uniques[t], t.UniqueNames()
		lookup := db.Lookup{
			Table: t, By: by, Columns: t.Names(), Keys: set.keys,
			Found: func(row []any) error {
				set.rows[keyOf(row[:len(by)])] = db.Record{Table: t, Values: row[len(by):]}
				return nil
			},
		}
		if t.IfGiven {
			lookup.Present = by[len(by)-1] // uniqueOf skips a row whose last unique column is ""
		}
		out = append(out, lookup)
	}
	for _, set := range d.guards {
		out = append(out, set.lookup())
	}
	return out
}

// decide accepts a unit, refuses it, or leaves it for the next batch. It drops a unit whose caller
// has stopped waiting. An error ends the batch.
func (d *decision) decide(w *pending) error {
	if d.mustWait(&w.unit) {
		d.late = append(d.late, w)
		return nil
	}
	if why := d.objection(w); why != nil || w.unit.proof {
		d.refused = append(d.refused, refusal{w, why})
		return nil
	}
	if w.take() {
		return d.accept(w)
	}
	return nil
}

// mustWait reports whether the unit changes a row that an earlier unit of this batch changes. Such
// a row is read again only after the commit.
func (d *decision) mustWait(u *Unit) bool {
	return slices.ContainsFunc(u.transitions, func(m Transition) bool { return d.guards[m.table].rows[m.row].fresh })
}

// objection returns the reason to refuse a unit, or nil. It changes nothing.
func (d *decision) objection(w *pending) error {
	u := &w.unit
	if l := d.locks[u.Company]; !l.found && !l.founded && !u.found {
		return &Refusal{Reason: NoCompany}
	}
	if rows := d.existing(w); rows != nil {
		return &Refusal{Reason: Exists, Rows: rows}
	}
	for i := range u.transitions {
		m := &u.transitions[i]
		if set := d.guards[m.table]; !set.fits(m) {
			return &Refusal{Reason: Moved, Table: m.table, State: set.rows[m.row].state}
		}
	}
	if id, lacks := d.lacksAccount(u); lacks {
		return &Refusal{Reason: NoAccount, Account: id}
	}
	if t, over := d.excess(u); over {
		return &Refusal{Reason: Over, Count: t}
	}
	return d.shortfall(u)
}

// existing returns the rows that a unit should insert as new, but that exist already.
func (d *decision) existing(w *pending) (rows []db.Record) {
	for i, r := range w.unit.inserts {
		if row, exists := d.uniques[r.Table].rows[w.keys[i]]; exists {
			rows = append(rows, row)
		}
	}
	return rows
}

// excess returns the first limit counter that the unit would take above its limit.
func (d *decision) excess(u *Unit) (Count, bool) {
	for i, t := range u.counts {
		sum := d.counter(u.Company, t.Name).value
		for _, earlier := range u.counts[:i] {
			if earlier.Name == t.Name {
				sum += earlier.Add
			}
		}
		// This means sum + add > limit, written so that it cannot overflow.
		limited := t.Add == 0 || t.Add > 0 && t.Limit > 0
		if limited && sum > t.Limit-t.Add {
			return t, true
		}
	}
	return Count{}, false
}
