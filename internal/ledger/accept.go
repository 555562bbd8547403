package ledger

import (
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// tolerance is how far the clock of another program may be ahead of ours. A wrong
// clock dated a lock row that is further ahead. Its date is ignored.
const tolerance = time.Minute

// date says when the batch happens: now, but in no company before what happened
// there last. The lock rows must be locked.
func (d *decision) date(now time.Time) {
	micros := clock.Micros(now)
	for _, h := range d.heads {
		if h.at < micros || h.at > micros+tolerance.Microseconds() {
			h.at = micros
		}
	}
}

// accept makes the unit part of the batch: from here on the batch's later units
// see what it did.
func (d *decision) accept(w *pending) {
	u := w.unit
	d.accepted = append(d.accepted, w)
	h := d.heads[u.Company]
	if u.found && !h.found {
		h.founded = true
	}
	for _, o := range u.open {
		if a := d.accounts[accountKey{u.Company, o.ID}]; !a.found && !a.opened {
			a.opened, a.floor = true, o.Floor
		}
	}
	for _, t := range u.counts {
		c := d.counters[counterKey{u.Company, t.Name}]
		c.value = max(c.value+t.Add, 0)
	}
	high := d.high(u)
	for _, t := range u.transfers {
		d.transfer(u.Company, t)
		h.changed = true
	}
	for _, a := range u.alerts {
		d.alert(u.Company, a)
	}
	for _, r := range u.inserts {
		d.insertOnce(r)
	}
	for _, m := range u.transitions {
		d.transition(m)
	}
	for _, r := range u.appended {
		d.insert(r.Table, filled(r.Values, h.at, func(n Next) int64 { return d.next(u.Company, n) }))
	}
	d.fall(u.Company, high)
}

// filled puts the next number, and the instant, where an appended row asks for them.
func filled(values []any, at int64, next func(Next) int64) []any {
	out := values
	for i, v := range values {
		var n int64
		switch v := v.(type) {
		case Next:
			n = next(v)
		case instant:
			n = at
		default:
			continue
		}
		if &out[0] == &values[0] {
			out = append([]any(nil), values...)
		}
		out[i] = n
	}
	return out
}

func (d *decision) next(company string, name Next) int64 {
	if name == Sequence {
		h := d.heads[company]
		h.sequence++
		h.changed = true
		return h.sequence
	}
	c := d.counters[counterKey{company, string(name)}]
	c.value++
	return c.value
}

func (d *decision) transfer(company string, t Transfer) {
	at := d.heads[company].at
	debit := d.entry(company, t.Debit, t, -t.Amount, at)
	credit := d.entry(company, t.Credit, t, t.Amount, at)
	d.transfers = append(d.transfers, []any{
		company, t.Reference, t.Step, t.Debit, t.Credit, int64(t.Amount), t.Kind, t.Narration, debit, credit, d.stamp, at,
	})
}

// entry is one side of a transfer; it returns the entry's number.
func (d *decision) entry(company, id string, t Transfer, amount money.Kobo, at int64) int64 {
	a := d.accounts[accountKey{company, id}]
	previous := a.balance
	a.balance += amount
	a.sequence++
	a.changed = true
	d.entries = append(d.entries, []any{
		company, id, a.sequence, t.Reference, t.Step, int64(amount), int64(previous), int64(a.balance), at,
	})
	return a.sequence
}

func (d *decision) insertOnce(r db.Record) {
	if key := uniqueOf(r); key != nil {
		d.uniques[r.Table.Name].rows[keyOf(key)] = r
	}
	if r.Table.State != "" {
		d.guardSet(r.Table).fresh[keyOf(r.Values[:r.Table.Key])] = true
	}
	d.insert(r.Table, r.Values)
}

func (d *decision) insert(t *db.Table, row []any) {
	if d.inserts[t] == nil {
		d.inserted = append(d.inserted, t)
	}
	d.inserts[t] = append(d.inserts[t], row)
}

// transition gathers the transitions that change the same columns of one table.
func (d *decision) transition(m Transition) {
	d.guards[m.table.Name].fresh[keyOf(m.key)] = true
	set := []string{m.table.State}
	row := append(append(make([]any, 0, len(m.key)+1+len(m.set)), m.key...), m.to)
	for _, c := range m.set {
		set = append(set, c.column)
		row = append(row, c.value)
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

// writes is the batch as sets of rows.
func (d *decision) writes() []db.Write {
	var newHeads, heads, newAccounts, accounts [][]any
	for c, h := range d.heads {
		switch {
		case h.founded:
			newHeads = append(newHeads, []any{c, h.sequence, h.at})
		case h.changed:
			heads = append(heads, []any{c, h.sequence, h.at})
		case h.restated:
			heads = append(heads, []any{c, h.sequence, h.dated})
		}
	}
	for k, a := range d.accounts {
		switch {
		case a.opened:
			newAccounts = append(newAccounts, []any{k.company, k.id, int64(a.floor), int64(a.alert), int64(a.balance), a.sequence, d.heads[k.company].at})
		case a.changed:
			accounts = append(accounts, []any{k.company, k.id, int64(a.alert), int64(a.balance), a.sequence})
		}
	}
	newCounters, counters := d.counterRows()
	out := []db.Write{
		{Table: counterTable, Rows: newCounters},
		{Table: counterTable, By: counterTable.KeyNames(), Set: []string{"value"}, Rows: counters},
		{Table: headTable, Rows: newHeads},
		{Table: headTable, By: headTable.KeyNames(), Set: []string{"event_sequence", "dated_at"}, Rows: heads},
		{Table: accountTable, Rows: newAccounts},
		{Table: accountTable, By: accountTable.KeyNames(), Set: []string{"alert_kobo", "balance_kobo", "entry_sequence"}, Rows: accounts},
		{Table: transferTable, Rows: d.transfers},
		{Table: entryTable, Rows: d.entries},
	}
	for _, t := range d.inserted {
		out = append(out, db.Write{Table: t, Rows: d.inserts[t]})
	}
	for _, name := range d.updated {
		out = append(out, *d.updates[name])
	}
	return out
}

// counterRows are the sequences and sums that this batch begins, and those it
// changes.
func (d *decision) counterRows() (begun, moved [][]any) {
	for k, c := range d.counters {
		row := []any{k.company, k.name, c.value}
		switch {
		case c.value == c.before:
		case c.found:
			moved = append(moved, row)
		default:
			begun = append(begun, row)
		}
	}
	return begun, moved
}
