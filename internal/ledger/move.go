package ledger

import (
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// moveSet is what a batch moves in one table, by primary key.
type moveSet struct {
	table  *db.Table
	keys   [][]any
	states map[string]string
	still  []string         // the columns beside the state that a move looks at
	held   map[string][]any // what they hold
	fresh  map[string]bool  // written by this very batch: wait for the next
}

func (d *decision) moveSet(t *db.Table) *moveSet {
	set := d.moves[t.Name]
	if set == nil {
		set = &moveSet{table: t, states: map[string]string{}, held: map[string][]any{}, fresh: map[string]bool{}}
		d.moves[t.Name] = set
	}
	return set
}

func (d *decision) nameMove(m Move) {
	set := d.moveSet(m.Table)
	if _, named := set.states[keyOf(m.Key)]; !named {
		set.states[keyOf(m.Key)] = ""
		set.keys = append(set.keys, m.Key)
	}
	for _, c := range m.Still {
		if !slices.Contains(set.still, c.Column) {
			set.still = append(set.still, c.Column)
		}
	}
}

func (s *moveSet) lookup() db.Lookup {
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

// fits tells whether a row is as a move wants it to be.
func (s *moveSet) fits(m Move) bool {
	key := keyOf(m.Key)
	if !slices.Contains(m.From, s.states[key]) {
		return false
	}
	return !slices.ContainsFunc(m.Still, func(c Change) bool {
		return s.held[key][slices.Index(s.still, c.Column)] != c.Value
	})
}
