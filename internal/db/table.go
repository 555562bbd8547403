package db

import "slices"

// Type is the type of a column.
type Type int8

// These are the two types of column.
const (
	Text Type = iota // TEXT, a string in Go
	Int              // BIGINT, an int64 in Go
)

// Column is one column of a Table.
type Column struct {
	Name string
	Type Type
}

// Table describes a table whose rows are passed as data. The ledger writes such rows in the
// transaction that also writes the money, and does not know what the rows mean.
type Table struct {
	Name    string
	Columns []Column // the columns; the first Key columns are the primary key, which begins with company_id
	Key     int
	// Unique names the unique columns, company_id first. The ledger refuses to insert a row
	// (ledger.Unit.Insert) if an existing row has the same values in all these columns. If Unique
	// is empty, the unique columns are the primary key.
	Unique []string
	// IfGiven is true if any number of rows may have "" in the last unique column.
	IfGiven bool
	// State names the column whose value a transition checks and changes. It is empty if the rows
	// never change.
	State string
	// Version is true if State is a number that rises by one with each change of the row.
	Version bool
	// Changing contains the positions of the columns that a transition writes.
	Changing []int
	// Lenient is true if an inserted row is ignored when a row with the same primary key exists.
	Lenient bool
	// Passing is true if a row may be deleted as soon as it is there, such as the row of a task.
	Passing bool
	// Evidence is true if the ledger numbers and signs each inserted row (Evidence).
	Evidence bool
	// Rights states for each column whether the MAC of a row covers it (Rights). It is nil if the rows
	// hold no rights.
	Rights []bool
	// Packing is the column that is stored in a shorter form, or nil.
	Packing *Packing
}

// Packing describes a column of evidence that is stored in a shorter form (PackSince). MACs and hashes are
// made of the text itself, so they do not depend on the form.
type Packing struct {
	Column int
	// Pack returns the stored form of the column, given all values of a row.
	Pack func(row []any) string
	// Unpack returns the text itself. A text that is not packed stays as it is.
	Unpack func(stored string) string
}

// Texts returns TEXT columns with these names.
func Texts(names ...string) []Column { return columns(Text, names) }

// Ints returns BIGINT columns with these names.
func Ints(names ...string) []Column { return columns(Int, names) }

func columns(t Type, names []string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = Column{n, t}
	}
	return out
}

// With applies rules to a table that is not declared by a Go type, and returns the table.
func (t *Table) With(rules ...Rule) *Table {
	for _, rule := range rules {
		rule(t)
	}
	return t
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

// UniqueNames returns the names of the unique columns, which are those of the primary key if Unique
// is empty.
func (t *Table) UniqueNames() []string {
	if len(t.Unique) > 0 {
		return t.Unique
	}
	return t.KeyNames()
}

// Record is a row of a table as data. It has one value for each column, in the table's order. Each
// value is a string or an int64.
type Record struct {
	Table  *Table
	Values []any
}

// Value returns the record's value in the named column.
func (r Record) Value(name string) any { return r.Values[r.Table.Index(name)] }

// Put sets the value in the named column and returns the record. The value is a string, an int64,
// or a placeholder that the ledger replaces (ledger.Next, ledger.Now).
func (r Record) Put(column string, value any) Record {
	r.Values[r.Table.Index(column)] = value
	return r
}
