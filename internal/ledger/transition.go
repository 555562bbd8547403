package ledger

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
)

// guardSet is the set of rows of one table that the transitions of a batch change.
type guardSet struct {
	table    *db.Table
	keys     [][]any
	expected []string // the columns to read in addition to the state: those that a transition compares, and those with rights
	rows     map[string]*guarded
}

// guarded is a row that a batch changes. A guardSet finds it by its primary key.
type guarded struct {
	state string
	held  []any // the values of the columns in guardSet.expected
	fresh bool  // this batch writes the row, so other transitions of the row wait for the next batch
}

func (d *decision) guardSet(t *db.Table) *guardSet {
	set := d.guards[t]
	if set == nil {
		set = &guardSet{table: t, rows: map[string]*guarded{}}
		if t.Rights != nil { // the MAC of the changed row is made from these columns
			set.expected = append(slices.DeleteFunc(t.Covered(), func(c string) bool { return c == t.State }), "mac")
		}
		d.guards[t] = set
	}
	return set
}

func (d *decision) nameTransition(m *Transition) {
	set := d.guardSet(m.table)
	if set.rows[m.row] == nil {
		set.rows[m.row] = &guarded{}
		set.keys = append(set.keys, m.key)
	}
	for _, c := range m.expected {
		if !slices.Contains(set.expected, c.column) {
			set.expected = append(set.expected, c.column)
		}
	}
}

func (s *guardSet) lookup() db.Lookup {
	by := s.table.KeyNames()
	return db.Lookup{
		Table: s.table, By: by, Columns: append([]string{s.table.State}, s.expected...), Keys: s.keys,
		Found: func(row []any) error {
			found := s.rows[keyOf(row[:len(by)])]
			found.state, found.held = row[len(by)].(string), slices.Clone(row[len(by)+1:])
			return nil
		},
	}
}

// fits reports whether the row has the state and the values that the transition expects.
func (s *guardSet) fits(m *Transition) bool {
	row := s.rows[m.row]
	return slices.Contains(m.from, row.state) && !slices.ContainsFunc(m.expected, func(c change) bool {
		return row.held[slices.Index(s.expected, c.column)] != c.value
	})
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

// uniqueOf returns a row's values in the unique columns of its table. It returns nil if the last
// value is "" and the table allows any number of such rows (db.Table.IfGiven).
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
