package db

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Lookup finds rows of a table by the values of some columns, and reads other columns of these
// rows.
type Lookup struct {
	Table   *Table
	By      []string // the columns whose values are searched for
	Columns []string // the columns to read
	Keys    [][]any  // the values to search for; each key has a string or an int64 for each column of By
	Lock    bool     // lock the rows in the order of their keys, until the end of the transaction
	Free    bool     // with Lock, leave out a row that another transaction has locked, instead of waiting for it
	// Present names a column of By in which every key has a non-empty value. It adds the condition
	// column <> '' to the query, and the engine can then use an index that has the same condition.
	// Without that index, the engine would read all rows of the company. If Present is "", the
	// query has no such condition.
	Present string
	// Found is called for each row with the values of the columns By, followed by those of Columns.
	Found func(row []any) error
}

// Write is a set of changes of the same type to one table. With Delete, the rows with the given
// values of By are deleted, and a row that does not exist is ignored. Otherwise, if Set is empty,
// the rows are inserted. If Set names columns, the existing rows with the given values of By are
// updated.
type Write struct {
	Table  *Table
	Delete bool
	// Set names the columns that an update changes. Each row then has the values of By,
	// followed by those of Set.
	By, Set []string
	Rows    [][]any
	// Still names columns of an update that must still have the values Was, one list for each row. Only a
	// routed database compares them, because there a lock ends when its row moves to another node. A row
	// that has changed counts as not found.
	Still []string
	Was   [][]any
}

// Pipeline is one transaction in two steps, Read and then Commit or Rollback. On PostgreSQL each
// step is one round trip, however large it is. BEGIN is sent together with the reads, and COMMIT
// together with the writes. A second Read needs one more round trip. With Pools.Routed the COMMIT needs
// a round trip of its own.
//
// A Pipeline can be used for only one transaction.
type Pipeline interface {
	// Read begins the transaction, unless it has begun already, and looks up rows. An error ends
	// the transaction.
	Read(ctx context.Context, lookups ...Lookup) error
	// Commit writes the rows and commits. If an update does not find exactly its rows, Commit fails
	// and writes nothing. After ErrUncommitted it is unknown whether the transaction was committed.
	// After any other error it was not committed.
	Commit(ctx context.Context, writes ...Write) error
	// Rollback ends the transaction and undoes its changes.
	Rollback()
}

// Run runs the steps in a new transaction. After a transient error nothing was committed, and Run
// runs all steps again. It returns faults.
func (d *DB) Run(ctx context.Context, steps func(p Pipeline) error) error {
	return again(ctx, func() error { return steps(d.pipeline()) })
}

// Insert inserts rows of one or more tables in one transaction. It writes the tables in the order
// in which they first appear. If the database does not respond, Insert stops waiting.
func (d *DB) Insert(ctx context.Context, records ...Record) error {
	var writes []Write
	for _, r := range records {
		i := slices.IndexFunc(writes, func(w Write) bool { return w.Table == r.Table })
		if i < 0 {
			i = len(writes)
			writes = append(writes, Write{Table: r.Table})
		}
		writes[i].Rows = append(writes[i].Rows, r.Values)
	}
	return d.Apply(d.At(ctx, d.common(records)), func(ctx context.Context, p Pipeline) error {
		if err := p.Read(ctx); err != nil {
			return err
		}
		return p.Commit(ctx, writes...)
	})
}

// common returns a company at the place of all records, or "" if they have several places or belong to
// no company.
func (d *DB) common(records []Record) (company string) {
	for _, r := range records {
		if !r.Table.OfCompanies() {
			return ""
		}
		of := r.Values[0].(string)
		if company != "" && company != of && d.Place(company) != d.Place(of) {
			return ""
		}
		company = of
	}
	return company
}

// Apply runs the steps as Run does. If the database does not respond, Apply stops waiting.
func (d *DB) Apply(ctx context.Context, steps func(ctx context.Context, p Pipeline) error) error {
	w := watch(ctx)
	defer w.end()
	return w.explain(d.Run(w, func(p Pipeline) error { return steps(w, p) }))
}

// built caches the generated SQL statements. Their cache keys contain only names and never values,
// so the number of SQL statements is limited.
var built sync.Map

func cached(key string, build func() string) string {
	if s, ok := built.Load(key); ok {
		return s.(string)
	}
	s := build()
	built.Store(key, s)
	return s
}

// Statements returns the SQL statements that this program has generated for an engine so far. Each
// release records them, and tests run them on later schemas.
func Statements(of Dialect) (list []string) {
	built.Range(func(key, text any) bool {
		made, _, _ := strings.Cut(strings.TrimPrefix(key.(string), "lite "), " ")
		lite := strings.HasPrefix(key.(string), "lite ")
		if lite == (of == SQLite) && slices.Contains([]string{"lookup", "insert", "update", "delete", "routed"}, made) {
			list = append(list, text.(string))
		}
		return true
	})
	slices.Sort(list)
	return list
}
