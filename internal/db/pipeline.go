package db

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Lookup finds rows of a table by the values of some columns and reads other columns.
type Lookup struct {
	Table   *Table
	By      []string // the columns of the keys
	Columns []string // the columns to read
	Keys    [][]any  // one value for each By, each a string or an int64
	Lock    bool     // lock the rows in key order, until the end of the transaction
	// Present names a column that no key leaves empty. Without it the engine does not use
	// a partial index (WHERE that column <> ''), and reads all rows of the company.
	Present string
	// Found is called for each row: its By values, then its Columns.
	Found func(row []any) error
}

// Write is a set of equal changes to one table: rows to insert or, if Set is not
// empty, rows to update by their key.
type Write struct {
	Table *Table
	// Set names the columns that an update changes. Each row then has the values of By,
	// followed by those of Set.
	By, Set []string
	Rows    [][]any
}

// Pipeline is one transaction in two steps: Read, then Commit or Rollback. On
// PostgreSQL each step is one round trip of any size: BEGIN is sent with the reads,
// COMMIT with the writes. A second Read is one more round trip.
//
// A Pipeline is for one transaction.
type Pipeline interface {
	// Read begins the transaction, unless it has begun, and looks rows up. An error
	// ends the transaction.
	Read(ctx context.Context, lookups ...Lookup) error
	// Commit writes and commits. If an update does not find exactly its rows, Commit
	// fails and nothing is written. ErrUncommitted leaves open whether the transaction
	// happened; after any other error it did not happen.
	Commit(ctx context.Context, writes ...Write) error
	// Rollback ends the transaction and undoes its changes.
	Rollback()
}

// Run runs the steps in a new transaction. After a transient error nothing has
// happened, and all steps run again. Run returns faults.
func (d *DB) Run(ctx context.Context, steps func(p Pipeline) error) error {
	return again(ctx, func() error { return steps(d.pipeline()) })
}

// Insert writes rows in one transaction, table by table in the order of the first row
// of each. A silent database ends the wait.
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
	w := watch(ctx)
	defer w.end()
	return w.explain(d.Run(w, func(p Pipeline) error {
		if err := p.Read(w); err != nil {
			return err
		}
		return p.Commit(w, writes...)
	}))
}

// built keeps the generated statements. Their keys consist of names and never of
// values, so their number is limited.
var built sync.Map

func cached(key string, build func() string) string {
	if s, ok := built.Load(key); ok {
		return s.(string)
	}
	s := build()
	built.Store(key, s)
	return s
}

// Statements returns the generated statements of this program for an engine, so far. A
// release keeps them, and tests run them on later schemas.
func Statements(of Dialect) (list []string) {
	built.Range(func(key, text any) bool {
		made, _, _ := strings.Cut(strings.TrimPrefix(key.(string), "lite "), " ")
		lite := strings.HasPrefix(key.(string), "lite ")
		if lite == (of == SQLite) && slices.Contains([]string{"lookup", "insert", "update"}, made) {
			list = append(list, text.(string))
		}
		return true
	})
	slices.Sort(list)
	return list
}
