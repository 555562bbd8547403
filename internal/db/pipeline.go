package db

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// Lookup names rows of a table by the values of some columns and reads others.
type Lookup struct {
	Table   *Table
	By      []string // the columns that the keys give
	Columns []string // what is read
	Keys    [][]any  // one value for each By, each a string or an int64
	Lock    bool     // keep the rows locked to the end, taken in key order
	// Present names a column that no key leaves empty. It must be said, or a
	// partial index (WHERE that column <> '') would not be used and each look-up
	// would walk through all of the company's rows.
	Present string
	// Found is called for each row: its By values, then its Columns.
	Found func(row []any) error
}

// Write is one set of equal changes to one table: rows to insert, or, when Set
// is given, rows to update by their key.
type Write struct {
	Table *Table
	// Set names the columns an update changes. Each row then holds the values
	// of By followed by those of Set.
	By, Set []string
	Rows    [][]any
}

// Pipeline is one transaction in two strokes: Read, then Commit. On PostgreSQL
// each stroke is one round trip whatever its size: BEGIN travels with the
// reads, COMMIT with the writes.
//
// Use it once: Read, then Commit or Rollback. What the first reading shows may
// ask for another; that is one more round trip.
type Pipeline interface {
	// Read begins the transaction, if it has not begun, and looks rows up. After
	// an error the transaction is over.
	Read(ctx context.Context, lookups ...Lookup) error
	// Commit writes and commits. An update that does not find exactly the rows it
	// names fails the whole. The error is ErrUncommitted when nobody can know
	// whether the transaction happened; any other error means that it did not.
	Commit(ctx context.Context, writes ...Write) error
	// Rollback ends the transaction without a trace.
	Rollback()
}

// Run runs the strokes in a new transaction, and again, from the start, while
// the engine says that nothing happened and a second try may help. Errors come
// out as faults.
func (d *DB) Run(ctx context.Context, strokes func(p Pipeline) error) error {
	return again(ctx, func() error { return strokes(d.pipeline()) })
}

// Insert writes rows in one transaction, table by table in the order in which
// the tables are named. A database that is silent does not hold it.
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
	if w != nil {
		defer w.end()
		ctx = w
	}
	err := d.Run(ctx, func(p Pipeline) error {
		if err := p.Read(ctx); err != nil {
			return err
		}
		return p.Commit(ctx, writes...)
	})
	if w == nil || errors.Is(err, ErrUncommitted) {
		return err
	}
	return w.explain(err)
}

// built keeps the statements that were put together here, by what they were made
// of: names of ours, and never a value, so there are only so many.
var built sync.Map

func cached(key string, build func() string) string {
	if s, ok := built.Load(key); ok {
		return s.(string)
	}
	s := build()
	built.Store(key, s)
	return s
}

// Statements are those that this program has put together so far for an engine.
// A release keeps them, and later schemas are held against them.
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
