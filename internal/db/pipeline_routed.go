package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A database that divides its tables by company plans a statement quickly if the statement names one
// table, and one company by value. Such a statement has no join, no array that becomes rows and no
// WITH. The functions of this file make such statements. They send more statements for the same rows,
// still in one round trip.
//
// Each statement has a price, which is several times the price of one more row. So rows of several
// companies are inserted together, if the companies have the same shard. The database keeps no plan of a statement
// about several shards.
//
// Nothing in such a statement can fail because an update has not found its row. So the writes and
// the COMMIT are two round trips, and the program counts the rows in between. An error before the
// COMMIT is then known to be one.

// groups divides rows by their first value, in the order in which the values first appear.
func groups(rows [][]any) [][][]any { return divided(rows, func(row []any) any { return row[0] }) }

// divided divides rows by a value, in the order in which the values first appear.
func divided(rows [][]any, by func(row []any) any) (out [][][]any) {
	at := make(map[any]int, 1)
	for _, row := range rows {
		value := by(row)
		i, known := at[value]
		if !known {
			i = len(out)
			at[value] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], row)
	}
	return out
}

// routeLookup adds the queries of a Lookup to a round trip. Rows are locked in the order of their
// keys, one query for each, because such a database locks only rows that are named one by one.
func routeLookup(b *pgx.Batch, k Lookup) {
	if k.Lock {
		for _, key := range inOrder(k.Keys) {
			b.Queue(routedLookupSQL(k, make([]bool, len(k.By))), key...).Query(func(rows pgx.Rows) error { return eachRow(rows, k) })
		}
		return
	}
	for _, keys := range groups(k.Keys) {
		of, listed := k, severalIn(keys)
		if len(k.By) > 2 && len(keys) > 1 {
			of.Found = onlyOf(keys, k.Found)
		}
		b.Queue(routedLookupSQL(k, listed), valuesOf(k.Table, k.By, keys, listed)...).Query(func(rows pgx.Rows) error { return eachRow(rows, of) })
	}
}

// inOrder returns the keys in their order, each once.
func inOrder(keys [][]any) [][]any {
	compare := func(a, b []any) int {
		return slices.CompareFunc(a, b, func(a, b any) int {
			if s, isText := a.(string); isText {
				return cmp.Compare(s, b.(string))
			}
			return cmp.Compare(a.(int64), b.(int64))
		})
	}
	sorted := slices.SortedFunc(slices.Values(keys), compare)
	return slices.CompactFunc(sorted, func(a, b []any) bool { return compare(a, b) == 0 })
}

// onlyOf calls found for the rows that have one of the keys. A query with several arrays also reads
// the rows whose columns have values of different keys.
func onlyOf(keys [][]any, found func(row []any) error) func(row []any) error {
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[fmt.Sprintf("%q", key)] = true
	}
	return func(row []any) error {
		if !wanted[fmt.Sprintf("%q", row[:len(keys[0])])] {
			return nil
		}
		return found(row)
	}
}

// severalIn reports for each column whether the keys have several values in it.
func severalIn(keys [][]any) []bool {
	several := make([]bool, len(keys[0]))
	for i, value := range keys[0] {
		several[i] = slices.ContainsFunc(keys, func(key []any) bool { return key[i] != value })
	}
	return several
}

// valuesOf returns the parameters of a condition (routed): an array for a listed column, and otherwise the value that
// all keys have.
func valuesOf(t *Table, by []string, keys [][]any, listed []bool) []any {
	out := make([]any, len(by))
	for i, c := range columnsOf(t, by) {
		out[i] = keys[0][i]
		if listed[i] {
			out[i] = &pgColumn{rows: keys, at: i, of: c.Type}
		}
	}
	return out
}

// together divides rows into those that one statement inserts. In a divided database these have one shard.
// Elsewhere, and in a table of no company, these are all rows.
func (p *postgres) together(t *Table, rows [][]any) [][][]any {
	where := p.nodes.where.Load()
	if where == nil || !t.OfCompanies() {
		return [][][]any{rows}
	}
	return divided(rows, func(row []any) any { return shardOf(*where, row[0].(string)) })
}

// routeWrite adds the statements of a Write to a round trip. The round trip fails if an update does
// not find its row.
func (p *postgres) routeWrite(b *pgx.Batch, w Write) {
	switch {
	case w.Delete && len(w.By) == 2:
		for _, rows := range groups(w.Rows) {
			listed := severalIn(rows)
			b.Queue(routedDeleteSQL(w, listed), valuesOf(w.Table, w.By, rows, listed)...)
		}
	case w.Delete:
		for _, row := range w.Rows {
			b.Queue(routedDeleteSQL(w, make([]bool, len(row))), row...)
		}
	case w.Set == nil:
		for _, rows := range p.together(w.Table, w.Rows) {
			for len(rows) > 0 {
				n := piece(len(rows), 64, 16, 8, 4, 3, 2)
				b.Queue(routedInsertSQL(w.Table, n), slices.Concat(rows[:n]...)...)
				rows = rows[n:]
			}
		}
	case len(w.By) == 2 && len(w.Still) == 0:
		for _, rows := range groups(w.Rows) {
			for len(rows) > 0 {
				n := piece(len(rows), 16, 4, 2)
				b.Queue(routedUpdateSQL(w, n), changesOf(rows[:n])...).Exec(finds(w.Table, n))
				rows = rows[n:]
			}
		}
	default:
		for i, row := range w.Rows {
			if len(w.Still) > 0 {
				row = append(row[:len(row):len(row)], w.Was[i]...)
			}
			b.Queue(routedUpdateSQL(w, 1), row...).Exec(finds(w.Table, 1))
		}
	}
}

// finds returns an error if an update has not found exactly its rows.
func finds(t *Table, rows int) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		if n := tag.RowsAffected(); n != int64(rows) {
			return fmt.Errorf("%w: %s, %d rows of %d", errMissed, t.Name, n, rows)
		}
		return nil
	}
}

// piece returns how many of n rows one SQL statement has. There are only a few such numbers, so a
// connection keeps only a few plans.
func piece(n int, sizes ...int) int {
	for _, size := range sizes {
		if n >= size {
			return size
		}
	}
	return 1
}

// changesOf returns the parameters of an update of several rows of one company: the company, the second value of
// each row, then the third value of each row, and so on.
func changesOf(rows [][]any) []any {
	out := make([]any, 1, 1+len(rows)*(len(rows[0])-1))
	out[0] = rows[0][0]
	for at := 1; at < len(rows[0]); at++ {
		for _, row := range rows {
			out = append(out, row[at])
		}
	}
	return out
}

func routedLookupSQL(k Lookup, listed []bool) string {
	key := fmt.Sprintf("routed lookup %s %v %v %v %v %s %v", k.Table.Name, k.By, k.Columns, k.Lock, k.Free, k.Present, listed)
	return cached(key, func() string {
		s := "SELECT " + strings.Join(append(slices.Clone(k.By), k.Columns...), ", ") + " FROM " + k.Table.Name + " WHERE " + routed(k.By, listed)
		if k.Present != "" {
			s += " AND " + k.Present + " <> ''"
		}
		if k.Lock {
			s += " FOR UPDATE"
			if k.Free {
				s += " SKIP LOCKED"
			}
		}
		return s
	})
}

func routedInsertSQL(t *Table, n int) string {
	return cached(fmt.Sprintf("routed insert %s %d", t.Name, n), func() string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = "(" + numbered(1+i*len(t.Columns), len(t.Columns)) + ")"
		}
		s := "INSERT INTO " + t.Name + " (" + strings.Join(t.Names(), ", ") + ") VALUES " + strings.Join(rows, ", ")
		if t.Lenient {
			s += " ON CONFLICT DO NOTHING"
		}
		return s
	})
}

// routedUpdateSQL returns an SQL statement that updates n rows of a company. Citus 13 prints "CASE id WHEN"
// wrongly, and ends its process at an element of an array as a new value. So each row is a "WHEN id =".
func routedUpdateSQL(w Write, n int) string {
	return cached(fmt.Sprintf("routed update %s %v %v %v %d", w.Table.Name, w.By, w.Set, w.Still, n), func() string {
		if n > 1 {
			return severalUpdate(w, n)
		}
		s := singleUpdate(w)
		for i, column := range w.Still {
			s += fmt.Sprintf(" AND %s = $%d", column, len(w.By)+len(w.Set)+i+1)
		}
		return s
	})
}

func severalUpdate(w Write, n int) string {
	changes := make([]string, len(w.Set))
	for i, c := range columnsOf(w.Table, w.Set) {
		changes[i] = c.Name + " = CASE"
		for row := range n {
			changes[i] += fmt.Sprintf(" WHEN %s = $%d THEN $%d::%s", w.By[1], 2+row, 2+(i+1)*n+row, pgTypes[c.Type])
		}
		changes[i] += " END"
	}
	return "UPDATE " + w.Table.Name + " SET " + strings.Join(changes, ", ") +
		" WHERE " + w.By[0] + " = $1 AND " + w.By[1] + " IN (" + numbered(2, n) + ")"
}

func routedDeleteSQL(w Write, listed []bool) string {
	return cached(fmt.Sprintf("routed delete %s %v %v", w.Table.Name, w.By, listed), func() string {
		return "DELETE FROM " + w.Table.Name + " WHERE " + routed(w.By, listed)
	})
}

// routed returns the condition of a statement. A listed column has the values of an array, and each other column has
// one value. One value is never in an array: a plan that does not know the length of an array expects ten values. Then
// it may read all rows of the company to find one.
func routed(by []string, listed []bool) string {
	parts := make([]string, len(by))
	for i, name := range by {
		form := "%s = $%d"
		if listed[i] {
			form = "%s = ANY($%d)"
		}
		parts[i] = fmt.Sprintf(form, name, i+1)
	}
	return strings.Join(parts, " AND ")
}

// errMissed means that an update has not found its row, or more than one row. errMoved means that this
// happened while a row may have been moving to another node. A statement that has waited for the end of a
// move sees the rows as they were before, and so it finds none. Or its shard has left the node (42P01,
// XX000).
var (
	errMissed = errors.New("db: an update has not found exactly its row")
	errMoved  = errors.New("db: a row may have moved to another node")
)

// moved returns the error of a statement before the COMMIT. If a move may be the reason, the transaction is
// tried again, and the map is read again.
func (p *postgres) moved(err error) error {
	if err == nil || !p.nodes.divided.Load() {
		return err
	}
	var pg *pgconn.PgError
	if errors.Is(err, errMissed) || errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "XX000") {
		p.nodes.doubt()
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// commitRouted writes the rows, and sends the COMMIT only after every update has found its row. After
// an error of a write nothing was committed. A COMMIT that comes alone is refused only by the errors
// of refusedCommit.
func (l *pgPipeline) commitRouted(ctx context.Context, writes []Write) error {
	var b pgx.Batch
	for _, w := range writes {
		if len(w.Rows) > 0 {
			l.p.routeWrite(&b, w)
		}
	}
	senderOf(l.conn.Conn()).begin(l.conn.Conn())
	if err := l.conn.SendBatch(ctx, &b).Close(); err != nil {
		l.Rollback()
		return l.p.moved(err)
	}
	return l.ended(l.p.committing(l.conn, func(c *pgx.Conn) error {
		tag, err := c.Exec(ctx, "COMMIT")
		if err == nil && tag.String() != "COMMIT" {
			err = pgx.ErrTxCommitRollback
		}
		return err
	}, refusedCommit))
}
