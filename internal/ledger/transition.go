package ledger

import (
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// guardSet are the rows of one table that a batch changes, by primary key.
type guardSet struct {
	table  *db.Table
	keys   [][]any
	states map[string]string
	still  []string         // the columns beside the state that a transition looks at
	held   map[string][]any // what they hold
	fresh  map[string]bool  // written by this very batch: wait for the next
}

func (d *decision) guardSet(t *db.Table) *guardSet {
	set := d.guards[t.Name]
	if set == nil {
		set = &guardSet{table: t, states: map[string]string{}, held: map[string][]any{}, fresh: map[string]bool{}}
		d.guards[t.Name] = set
	}
	return set
}

func (d *decision) nameTransition(m Transition) {
	set := d.guardSet(m.table)
	if _, named := set.states[keyOf(m.key)]; !named {
		set.states[keyOf(m.key)] = ""
		set.keys = append(set.keys, m.key)
	}
	for _, c := range m.expected {
		if !slices.Contains(set.still, c.column) {
			set.still = append(set.still, c.column)
		}
	}
}

func (s *guardSet) lookup() db.Lookup {
	by := s.table.KeyNames()
	return db.Lookup{
		Table: s.table, By: by, Columns: append([]string{s.table.State}, s.still...), Keys: s.keys,
		Found: func(row []any) error {
			key := keyOf(row[:len(by)])
			s.states[key] = row[len(by)].(string)
			if len(s.still) > 0 {
				s.held[key] = slices.Clone(row[len(by)+1:])
			}
			return nil
		},
	}
}

// fits tells whether a row is as a transition expects it.
func (s *guardSet) fits(m Transition) bool {
	key := keyOf(m.key)
	if !slices.Contains(m.from, s.states[key]) {
		return false
	}
	return !slices.ContainsFunc(m.expected, func(c change) bool {
		return s.held[key][slices.Index(s.still, c.column)] != c.value
	})
}
