package db

import "slices"

// Type is the type of a column.
type Type int8

// The two types of column.
const (
	Text Type = iota // TEXT; a Go string
	Int              // BIGINT; a Go int64
)

// Column is one column of a Table.
type Column struct {
	Name string
	Type Type
}

// Table describes a table whose rows are passed as data. The ledger writes such rows
// in the same transaction as the money, without knowledge of their meaning.
type Table struct {
	Name    string
	Columns []Column // the first Key of them are the primary key, company_id first
	Key     int
	// Unique names the columns, company_id first, that must be new for a row that is
	// inserted once; empty means the primary key.
	Unique []string
	// IfGiven says that a row with "" in its last unique column is always new.
	IfGiven bool
	// State names the column that a transition guards; empty if rows never change.
	State string
	// Version says that State is a number that rises by one with each change.
	Version bool
	// Changing are the positions of the columns that a transition writes.
	Changing []int
	// Lenient tables keep their row if another row with the same key is inserted.
	Lenient bool
}

// Texts lists TEXT columns.
func Texts(names ...string) []Column { return columns(Text, names) }

// Ints lists BIGINT columns.
func Ints(names ...string) []Column { return columns(Int, names) }

func columns(t Type, names []string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = Column{n, t}
	}
	return out
}

// Index returns the position of a column by name, or -1.
func (t *Table) Index(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Names returns the names of the columns, in order.
func (t *Table) Names() []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Name
	}
	return out
}

// KeyNames returns the names of the primary key's columns.
func (t *Table) KeyNames() []string { return t.Names()[:t.Key] }

// UniqueNames returns the columns whose values must be new for a row that is inserted once.
func (t *Table) UniqueNames() []string {
	if len(t.Unique) > 0 {
		return t.Unique
	}
	return t.KeyNames()
}

// Record is a row of a table as data. It has one value for each column, in the
// table's order, each a string or an int64.
type Record struct {
	Table  *Table
	Values []any
}

// Value returns the record's value in the named column.
func (r Record) Value(name string) any { return r.Values[r.Table.Index(name)] }

// Put sets the value in the named column, and returns the record. The value is a string,
// an int64, or one that the ledger replaces (ledger.Next, ledger.Now).
func (r Record) Put(column string, value any) Record {
	r.Values[r.Table.Index(column)] = value
	return r
}
