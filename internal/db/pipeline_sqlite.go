package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
)

// liteStatements contains the prepared SQL statements of the connection that writes. They belong to
// one connection of the driver, and only the holder of this connection uses them.
type liteStatements struct {
	conn any
	byQ  map[string]driver.Stmt

	named []driver.NamedValue // the parameters of the last SQL statement
}

// litePipeline runs prepared SQL statements directly on the connection of the driver. A batch has
// hundreds of SQL statements, and database/sql would cost more than each of them.
//
// The caller's context limits only the wait for the connection. The SQL statements run without a
// context, because nothing in this process can delay them any more. With a context, the driver
// would start a goroutine to watch it.
type litePipeline struct {
	s    *lite
	conn *sql.Conn
}

func (s *lite) pipeline() Pipeline { return &litePipeline{s: s} }

func (l *litePipeline) Read(ctx context.Context, lookups ...Lookup) error {
	var err error
	if l.conn == nil {
		if l.conn, err = l.s.write.Conn(ctx); err != nil {
			return err
		}
		err = l.exec("BEGIN IMMEDIATE")
	}
	for _, k := range lookups {
		if err == nil && len(k.Keys) > 0 {
			err = l.lookup(k)
		}
	}
	if err != nil {
		l.Rollback()
	}
	return err
}

func (l *litePipeline) lookup(k Lookup) error {
	query := cached(fmt.Sprintf("lite lookup %s %v %v %s", k.Table.Name, k.By, k.Columns, k.Present), func() string {
		s := "SELECT " + strings.Join(append(append([]string{}, k.By...), k.Columns...), ", ") +
			" FROM " + k.Table.Name + " WHERE " + equals(k.By, 1)
		if k.Present != "" {
			s += " AND " + k.Present + " <> ''"
		}
		return s
	})
	return l.raw(query, func(st driver.Stmt) error {
		values := make([]driver.Value, len(k.By)+len(k.Columns))
		for _, key := range k.Keys {
			if err := l.each(st, key, values, k.Found); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *litePipeline) each(st driver.Stmt, key []any, values []driver.Value, found func([]any) error) error {
	rows, err := st.(driver.StmtQueryContext).QueryContext(context.Background(), l.named(key))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // ignored, because the rows were read or an error is known
	for {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = v
		}
		if err := found(row); err != nil {
			return err
		}
	}
}

func (l *litePipeline) Commit(_ context.Context, writes ...Write) error {
	for _, w := range writes {
		if err := l.write(w); err != nil {
			l.Rollback()
			return err
		}
	}
	if err := liteCommitError(l.exec("COMMIT")); err != nil {
		l.Rollback()
		return err
	}
	l.release()
	return nil
}

func (l *litePipeline) write(w Write) error {
	if len(w.Rows) == 0 {
		return nil
	}
	if w.Set == nil && !w.Delete {
		return l.insert(w)
	}
	return l.raw(liteChangeSQL(w), func(st driver.Stmt) error {
		for _, row := range w.Rows {
			n, err := l.run(st, row)
			if err == nil && n != 1 && !w.Delete {
				err = fmt.Errorf("db: an update of %s found %d rows for one key", w.Table.Name, n)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func liteChangeSQL(w Write) string {
	if w.Delete {
		return cached(fmt.Sprintf("lite delete %s %v", w.Table.Name, w.By), func() string {
			return "DELETE FROM " + w.Table.Name + " WHERE " + equals(w.By, 1)
		})
	}
	return cached(fmt.Sprintf("lite update %s %v %v", w.Table.Name, w.By, w.Set), func() string {
		return singleUpdate(w)
	})
}

// insert inserts several rows with one SQL statement, which costs little more than an SQL statement
// with one row. It uses few sizes, so each table needs few prepared SQL statements.
func (l *litePipeline) insert(w Write) error {
	rows := w.Rows
	for _, n := range [...]int{32, 8, 1} {
		for ; len(rows) >= n; rows = rows[n:] {
			err := l.raw(liteInsertSQL(w.Table, n), func(st driver.Stmt) error {
				_, err := l.run(st, rows[:n]...)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// liteInsertSQL returns an SQL statement that inserts n rows. Its parameters have no numbers,
// because the driver would search for the name of each parameter. With OR FAIL, SQLite does not
// save each page that the SQL statement changes, in order to undo the rows before a refused row. The
// pipeline rolls back after each error, which undoes these rows.
func liteInsertSQL(t *Table, n int) string {
	return cached(fmt.Sprintf("lite insert %s %d", t.Name, n), func() string {
		row := "(?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
		s := "INSERT OR FAIL INTO " + t.Name + " (" + strings.Join(t.Names(), ", ") + ") VALUES " + row + strings.Repeat(", "+row, n-1)
		if t.Lenient {
			s += " ON CONFLICT DO NOTHING"
		}
		return s
	})
}

func (l *litePipeline) Rollback() {
	if l.conn == nil {
		return
	}
	// SQLite may have rolled back by itself, for example because the disk is full. Then ROLLBACK
	// fails with "no transaction is active". The error is ignored, because the transaction has
	// ended as wanted.
	_ = l.exec("ROLLBACK")
	l.release()
}

func (l *litePipeline) release() {
	_ = l.conn.Close() // returns the connection to the pool
	l.conn = nil
}

func (l *litePipeline) exec(query string) error {
	return l.raw(query, func(st driver.Stmt) error {
		_, err := l.run(st)
		return err
	})
}

// raw calls the function use with the prepared SQL statement on the connection of this pipeline. It
// prepares the SQL statement at the first call.
func (l *litePipeline) raw(query string, use func(driver.Stmt) error) error {
	return l.conn.Raw(func(conn any) error {
		b := &l.s.batch
		if b.conn != conn {
			b.conn, b.byQ = conn, map[string]driver.Stmt{}
		}
		st, ok := b.byQ[query]
		if !ok {
			var err error
			if st, err = conn.(driver.Conn).Prepare(query); err != nil {
				return err
			}
			b.byQ[query] = st
		}
		return use(st)
	})
}

// run runs an SQL statement with the values of some rows.
func (l *litePipeline) run(st driver.Stmt, rows ...[]any) (int64, error) {
	res, err := st.(driver.StmtExecContext).ExecContext(context.Background(), l.named(rows...))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// named returns the values of some rows as parameters. The result is valid until the next call.
func (l *litePipeline) named(rows ...[]any) []driver.NamedValue {
	out := l.s.batch.named[:0]
	for _, row := range rows {
		for _, v := range row {
			out = append(out, driver.NamedValue{Ordinal: len(out) + 1, Value: v})
		}
	}
	l.s.batch.named = out
	return out
}

// singleUpdate returns an SQL statement that updates one row.
func singleUpdate(w Write) string {
	return "UPDATE " + w.Table.Name + " SET " + strings.Join(numberedEach(w.Set, len(w.By)+1), ", ") + " WHERE " + equals(w.By, 1)
}

func equals(names []string, first int) string {
	return strings.Join(numberedEach(names, first), " AND ")
}

// numberedEach returns "a = $1", "b = $2" and so on, beginning with the parameter whose number is first.
func numberedEach(names []string, first int) []string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("%s = $%d", n, first+i)
	}
	return parts
}
