package db

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Declared is a table whose rows are values of a Go type.
//
// The fields with a db tag are the columns, in their order. A field is a string, an integer, a bool
// (stored as 1 or 0), a time.Time (stored as microseconds UTC) or a []byte (stored as text). Named
// types with one of these underlying types are allowed too, and so is clock.Instant. The fields of
// an embedded struct count as fields of T. A tag names the column, and may add one of these words:
//
//	key      a part of the primary key; these fields come first, and company_id is the first of all
//	state    the column whose value a transition checks and changes
//	version  a number, kept as text, that rises by one with each change of the row
//	changes  a column that a transition or an update writes
type Declared[T any] struct {
	*Table
	fields []field
}

// Rule sets or checks a property of the table that Declare declares.
type Rule func(*Table)

// Unique returns a rule that names the unique columns, company_id first. The ledger refuses to
// insert a row (ledger.Unit.Insert) if an existing row has the same values in all these columns.
// Without this rule, the unique columns are the primary key.
func Unique(columns ...string) Rule {
	return func(t *Table) { t.Unique = columns }
}

// UniqueIfGiven returns a rule like that of Unique, except that it ignores rows with "" in the last
// named column. Any number of rows may have "" in that column.
func UniqueIfGiven(columns ...string) Rule {
	return func(t *Table) { t.Unique, t.IfGiven = columns, true }
}

// KeepFirst returns a rule for appended rows (ledger.Unit.Append). An appended row is ignored if a
// row with the same primary key exists.
func KeepFirst() Rule { return func(t *Table) { t.Lenient = true } }

// Passing returns a rule for rows that may be deleted as soon as they are there. So their absence does not show that a commit
// failed.
func Passing() Rule { return func(t *Table) { t.Passing = true } }

// Reads returns a rule that checks a list of columns. A package selects these columns in its SQL
// statements and reads them with Scan. The list must contain the declared columns in their order.
// The names may be qualified with the table.
func Reads(columns string) Rule {
	return func(t *Table) {
		var names []string
		for name := range strings.SplitSeq(columns, ",") {
			name = strings.TrimSpace(name)
			names = append(names, name[strings.LastIndexByte(name, '.')+1:])
		}
		if !slices.Equal(names, t.Names()) {
			panic(fmt.Sprintf("db: %s declares %v, and its statements read %v", t.Name, t.Names(), names))
		}
	}
}

// Declare declares a table by the Go type of its rows. A wrong declaration panics when the program
// starts.
func Declare[T any](name string, rules ...Rule) *Declared[T] {
	d := &Declared[T]{Table: &Table{Name: name}, fields: fieldsOf(reflect.TypeFor[T](), 0, true)}
	for i, f := range d.fields {
		d.Columns = append(d.Columns, Column{f.column, f.kind.column()})
		for _, word := range f.words {
			switch word {
			case "key":
				if d.Key++; d.Key != i+1 {
					panic(fmt.Sprintf("db: the key of %s does not come first", name))
				}
			case "state":
				d.State = f.column
			case "version":
				d.State, d.Version = f.column, true
			case "changes":
				d.Changing = append(d.Changing, i)
			default:
				panic(fmt.Sprintf("db: %s.%s: unknown word %q in its tag", name, f.column, word))
			}
		}
	}
	d.With(rules...)
	return d
}

// Record returns v as a row of the table.
func (d *Declared[T]) Record(v T) Record {
	values := make([]any, len(d.Columns))
	for i, f := range d.fields {
		values[i] = f.kind.get(unsafe.Add(unsafe.Pointer(&v), f.offset))
	}
	if d.Rights != nil {
		values[len(d.fields)] = "" // the ledger signs the row
	}
	return Record{Table: d.Table, Values: values}
}

// Value turns a record, such as the existing row in a ledger.Refusal, back into a value of the Go
// type.
func (d *Declared[T]) Value(r Record) (T, error) {
	var v T
	for i, f := range d.fields {
		if err := f.kind.set(unsafe.Add(unsafe.Pointer(&v), f.offset), r.Values[i]); err != nil {
			return v, fmt.Errorf("db: %s.%s: %w", d.Name, f.column, err)
		}
	}
	return v, nil
}

// Scan reads a row that contains all columns in the declared order.
func (d *Declared[T]) Scan(s Scanner) (T, error) {
	var v T
	err := s.Scan(d.Targets(&v)...)
	return v, err
}

// Targets returns pointers to the fields of v, for all columns in the declared order. It is for SQL
// statements that read further columns too.
func (d *Declared[T]) Targets(v *T) []any { return targets(unsafe.Pointer(v), d.fields) }

// Fields reads a row into all fields of a struct, in their order, whether or not a field has a db
// tag. It is for SQL statements that do not select all columns of a declared table.
func Fields[T any](s Scanner) (T, error) {
	var v T
	t := reflect.TypeFor[T]()
	known, ok := plans.Load(t)
	if !ok {
		known, _ = plans.LoadOrStore(t, fieldsOf(t, 0, false))
	}
	err := s.Scan(targets(unsafe.Pointer(&v), known.([]field))...)
	return v, err
}

// Missing returns err, or a fault of kind Missing with the given message if err is ErrNone.
func Missing(err error, message string) error {
	if errors.Is(err, ErrNone) {
		return fault.New(fault.Missing, message)
	}
	return err
}

// plans caches the results of fieldsOf for the types that Fields reads.
var plans sync.Map

func targets(at unsafe.Pointer, fields []field) []any {
	out := make([]any, len(fields))
	for i, f := range fields {
		out[i] = f.kind.target(unsafe.Add(at, f.offset))
	}
	return out
}

// field describes the place of a column in a Go type.
type field struct {
	column string
	words  []string
	offset uintptr
	kind   kind
}

// fieldsOf returns the fields of a type, either only those with a tag or all of them.
func fieldsOf(t reflect.Type, from uintptr, tagged bool) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, has := f.Tag.Lookup("db")
		at := from + f.Offset
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && !has:
			out = append(out, fieldsOf(f.Type, at, tagged)...)
		case has || !tagged:
			words := strings.Split(tag, ",")
			k, ok := kindOf(f.Type, slices.Contains(words[1:], "version"))
			if !ok {
				panic(fmt.Sprintf("db: no column holds the %s of %s.%s", f.Type, t, f.Name))
			}
			out = append(out, field{column: words[0], words: words[1:], offset: at, kind: k})
		}
	}
	return out
}
