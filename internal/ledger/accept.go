package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// tolerance is how far the clock of another program may be ahead of ours. If the date of a lock row
// is further ahead, a wrong clock wrote that date, and the ledger ignores it.
const tolerance = time.Minute

// date sets the instant of the batch for each company. The instant is now, or the instant of the
// company's last batch if that is later. The lock rows must be locked.
func (d *decision) date(now time.Time) {
	micros := clock.Micros(now)
	for _, l := range d.locks {
		if l.at < micros || l.at > micros+tolerance.Microseconds() {
			l.at = micros
		}
	}
}

// accept makes the unit part of the batch, and later units of the batch see this unit's changes. An
// error ends the batch.
func (d *decision) accept(w *pending) error {
	u := &w.unit
	d.accepted = append(d.accepted, w)
	l := d.locks[u.Company]
	if u.found && !l.found {
		l.founded = true
	}
	for _, o := range u.open {
		if a := d.account(u.Company, o.ID); !a.found && !a.opened {
			a.opened, a.floor = true, o.Floor
		}
	}
	for _, t := range u.counts {
		c := d.counter(u.Company, t.Name)
		c.value = max(c.value+t.Add, 0)
	}
	for _, t := range u.transfers {
		a := d.account(u.Company, t.Debit)
		a.before = a.balance
	}
	for i := range u.transfers {
		d.transfer(u.Company, &u.transfers[i], l)
	}
	for _, to := range u.alerts {
		a := d.account(u.Company, to.account)
		a.alert, a.changed = to.below, true
	}
	for _, m := range u.marks {
		d.mark(u.Company, m)
	}
	for i, r := range u.inserts {
		d.insertOnce(r, w.keys[i])
	}
	for i := range u.transitions {
		if !u.transitions[i].still {
			d.transition(&u.transitions[i])
		}
	}
	for _, r := range u.removed {
		d.remove(r)
	}
	for _, r := range u.appended {
		d.append(u.Company, r)
	}
	return d.appendLow(u)
}

// append adds a row. It fills in the next number, the text with the number and the instant where the
// row contains the placeholders Next, Numbered and Now.
func (d *decision) append(company string, r db.Record) {
	out := r.Values
	for i, v := range r.Values {
		switch given := v.(type) {
		case Next:
			v = d.next(company, given)
		case Numbered:
			v = given(d.locks[company].sequence)
		case instant:
			v = d.locks[company].at
		default:
			continue
		}
		out = own(out, r)
		out[i] = v
	}
	switch {
	case r.Table.Evidence:
		out = own(out, r)
		d.sign(r.Table, out, d.locks[company])
		if p := r.Table.Packing; p != nil && d.packs {
			out[p.Column] = p.Pack(out)
		}
	case r.Table.Rights != nil:
		out = own(out, r)
		d.grant(r.Table, out)
	}
	d.insert(r.Table, out)
}

// own returns the values of a row that the ledger may fill in. It copies the values of the unit once,
// so that the unit keeps its placeholders and can be decided again.
func own(out []any, r db.Record) []any {
	if &out[0] == &r.Values[0] {
		return slices.Clone(out)
	}
	return out
}

// sign numbers and signs a row of evidence.
func (d *decision) sign(t *db.Table, row []any, l *lockRow) {
	l.leaf++
	l.changed = true
	d.content = seal(d.signer, t, row, l.leaf, d.content)
}

func (d *decision) next(company string, name Next) int64 {
	if name == Sequence {
		l := d.locks[company]
		l.sequence++
		l.changed = true
		return l.sequence
	}
	c := d.counter(company, string(name))
	c.value++
	return c.value
}

// transfer adds a transfer and its two entries. It converts each value that the three rows share to
// an interface only once.
func (d *decision) transfer(in string, t *Transfer, l *lockRow) {
	var company, reference, step, at any = in, t.Reference, t.Step, l.at
	l.changed = true
	entry := func(id string, amount money.Kobo) (account, number any) {
		a := d.account(in, id)
		previous := a.balance
		a.balance += amount
		a.sequence++
		a.changed = true
		account, number = id, a.sequence
		d.entries = append(d.entries, []any{
			company, account, number, reference, step, int64(amount), int64(previous), int64(a.balance), at,
		})
		return account, number
	}
	debit, debitEntry := entry(t.Debit, -t.Amount)
	credit, creditEntry := entry(t.Credit, t.Amount)
	row := []any{
		company, reference, step, debit, credit, int64(t.Amount), t.Kind, t.Narration, debitEntry, creditEntry, d.stamp, at, nil, nil,
	}
	d.sign(TransferTable, row, l)
	d.transfers = append(d.transfers, row)
}

func (d *decision) insertOnce(r db.Record, key string) {
	if r.Table.Rights != nil {
		r.Values = slices.Clone(r.Values)
		d.grant(r.Table, r.Values)
	}
	if key != "" {
		d.uniques[r.Table].rows[key] = r
	}
	if r.Table.State != "" {
		d.guardSet(r.Table).rows[keyOf(r.Values[:r.Table.Key])] = &guarded{fresh: true}
	}
	d.insert(r.Table, r.Values)
}

func (d *decision) insert(t *db.Table, row []any) {
	if d.inserts[t] == nil {
		d.inserted = append(d.inserted, t)
	}
	d.inserts[t] = append(d.inserts[t], row)
}

func (d *decision) remove(r db.Record) {
	i := slices.IndexFunc(d.deletes, func(w db.Write) bool { return w.Table == r.Table })
	if i < 0 {
		i = len(d.deletes)
		d.deletes = append(d.deletes, db.Write{Table: r.Table, Delete: true, By: r.Table.KeyNames()})
	}
	d.deletes[i].Rows = append(d.deletes[i].Rows, r.Values[:r.Table.Key])
}

// transition adds a transition to the write that changes the same columns of the same table.
func (d *decision) transition(m *Transition) {
	guards := d.guards[m.table]
	guards.rows[m.row].fresh = true
	set := []string{m.table.State}
	row := append(append(make([]any, 0, len(m.key)+2+len(m.set)), m.key...), m.to)
	for _, c := range m.set {
		set = append(set, c.column)
		row = append(row, c.value)
	}
	if m.table.Rights != nil {
		set, row = append(set, "mac"), append(row, d.renew(guards.change(m)))
	}
	name := m.table.Name + " " + strings.Join(set, " ")
	w := d.updates[name]
	if w == nil {
		w = &db.Write{Table: m.table, By: m.table.KeyNames(), Set: set}
		d.updates[name] = w
		d.updated = append(d.updated, name)
	}
	w.Rows = append(w.Rows, row)
}

// prove makes the batch write all existing lock rows, even those that do not change. It returns
// false if no lock row exists. Then the batch needs no proof, because a company without a lock row
// has no rows.
func (d *decision) prove() (any bool) {
	for _, l := range d.locks {
		l.restated = l.found
		any = any || l.found
	}
	return any
}

// writes returns the changes of the batch as sets of rows.
func (d *decision) writes() []db.Write {
	var newLocks, locks, was, newAccounts, accounts, marked [][]any
	for c, l := range d.locks {
		before := len(locks)
		row := []any{c, l.sequence, l.at, l.leaf, l.rights.sealed(d.signer, c)}
		switch {
		case l.founded:
			newLocks = append(newLocks, row)
		case l.changed:
			locks = append(locks, row)
		case l.restated:
			row[2] = l.dated
			locks = append(locks, row)
		}
		if d.guarded && len(locks) > before {
			if row[2] == l.dated {
				row[2] = l.dated + 1
			}
			was = append(was, []any{l.dated})
		}
	}
	for k, a := range d.accounts {
		switch {
		case a.opened:
			newAccounts = append(newAccounts, a.row(k, d.locks[k.company].at, a.closedAt, a.mac))
		case a.changed:
			accounts = append(accounts, []any{k.company, k.id, int64(a.alert), int64(a.balance), a.sequence})
		}
		if a.marked && !a.opened {
			marked = append(marked, []any{k.company, k.id, a.closedAt, a.mac})
		}
	}
	newCounters, counters := d.counterRows()
	out := []db.Write{
		{Table: counterTable, Rows: newCounters},
		{Table: counterTable, By: counterTable.KeyNames(), Set: []string{"value", "mac"}, Rows: counters},
		{Table: lockTable, Rows: newLocks},
		{Table: lockTable, By: lockTable.KeyNames(), Set: lockTable.Names()[1:], Rows: locks, Still: d.still(), Was: was},
		{Table: accountTable, Rows: newAccounts},
		{Table: accountTable, By: accountTable.KeyNames(), Set: []string{"alert_kobo", "balance_kobo", "entry_sequence"}, Rows: accounts},
		{Table: accountTable, By: accountTable.KeyNames(), Set: []string{"closed_at", "mac"}, Rows: marked},
		{Table: TransferTable, Rows: d.transfers},
		{Table: entryTable, Rows: d.entries},
	}
	out = append(out, d.deletes...)
	for _, t := range d.inserted {
		out = append(out, db.Write{Table: t, Rows: d.inserts[t]})
	}
	for _, name := range d.updated {
		out = append(out, *d.updates[name])
	}
	return out
}

// still names the columns of a lock row that must not have changed since they were read. While a company
// moves to another node, a lock of its former node holds back no one. So each batch changes the instant of
// the row, and compares the instant that it has read.
func (d *decision) still() []string {
	if d.guarded {
		return []string{"dated_at"}
	}
	return nil
}

// guard returns the instant with which w writes back a lock row outside a batch. The row had the instant dated when it was
// read. In a divided database, w compares the row with that, and changes the instant, as each batch does (still).
func (b *Book) guard(w *db.Write, dated int64) int64 {
	if !b.divided() {
		return dated
	}
	w.Still, w.Was = []string{"dated_at"}, append(w.Was, []any{dated})
	return dated + 1
}

// counterRows returns the counters and sequences that this batch inserts, and those that it
// changes.
func (d *decision) counterRows() (inserted, changed [][]any) {
	for k, c := range d.counters {
		row := []any{k.company, k.name, c.value, c.mac}
		switch {
		case c.value == c.before:
		case c.found:
			changed = append(changed, row)
		default:
			inserted = append(inserted, row)
		}
	}
	return inserted, changed
}

// row returns the row of an account.
func (a *account) row(k accountKey, createdAt, closedAt int64, mac string) []any {
	return []any{k.company, k.id, int64(a.floor), int64(a.alert), int64(a.balance), a.sequence, createdAt, closedAt, mac}
}
