package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgPipeline sends each set of rows as arrays, which the SQL function unnest turns back into rows.
type pgPipeline struct {
	p    *postgres
	conn *pgxpool.Conn
}

func (p *postgres) pipeline() Pipeline { return &pgPipeline{p: p} }

// keepPlans makes the planner use the primary keys and reuse its plans. Without these settings, a
// plan that was made for a small table would read the whole table after the table has grown.
// Without generic plans, PostgreSQL would plan small look-ups each time, which takes a tenth of a
// batch's time.
const keepPlans = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), ` +
	`set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// keepOrder adds to keepPlans: the planner reads rows in the order of an index, and sorts only what
// no index sorts. The price of such a sort is fictitious, so PostgreSQL must not compile the query
// because of its price.
const keepOrder = `, set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`

// outdated reports whether a connection should discard its query plans. A connection discards them
// every few seconds. For a table of only a few rows, PostgreSQL plans to read the whole index.
// Without discarding, this plan would stay in use after the table has grown, until PostgreSQL
// gathers statistics again.
func (p *postgres) outdated(of map[string]any) bool {
	const planned = "kobo.planned"
	since, known := of[planned].(time.Time)
	if known && time.Since(since) < p.replan {
		return false
	}
	of[planned] = time.Now()
	return known
}

func (l *pgPipeline) Read(ctx context.Context, lookups ...Lookup) error {
	var b pgx.Batch
	if l.conn == nil {
		conn, err := l.p.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
		b.Queue("BEGIN")
		b.Queue(keepPlans)
		if l.p.outdated(conn.Conn().PgConn().CustomData()) {
			b.Queue("DISCARD PLANS")
		}
	}
	for _, k := range lookups {
		if len(k.Keys) > 0 {
			b.Queue(lookupSQL(k), arrays(columnsOf(k.Table, k.By), k.Keys)...).Query(func(rows pgx.Rows) error {
				return eachRow(rows, k)
			})
		}
	}
	if err := l.conn.SendBatch(ctx, &b).Close(); err != nil {
		l.Rollback()
		return err
	}
	return nil
}

// eachRow calls the function Found of a Lookup with the values of each row, as strings and int64s.
func eachRow(rows pgx.Rows, k Lookup) error {
	for rows.Next() {
		values, err := rows.Values()
		if err == nil {
			err = k.Found(values)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (l *pgPipeline) Commit(ctx context.Context, writes ...Write) error {
	var b pgx.Batch
	for _, w := range writes {
		switch {
		case len(w.Rows) == 0:
		case w.Delete:
			b.Queue(deleteSQL(w), arrays(columnsOf(w.Table, w.By), w.Rows)...)
		case w.Set == nil:
			b.Queue(insertSQL(w.Table), arrays(w.Table.Columns, w.Rows)...)
		default:
			columns := append(columnsOf(w.Table, w.By), columnsOf(w.Table, w.Set)...)
			b.Queue(updateSQL(w), append(arrays(columns, w.Rows), len(w.Rows))...)
		}
	}
	b.Queue("COMMIT")
	err := l.p.committing(l.conn, func(c *pgx.Conn) error { return c.SendBatch(ctx, &b).Close() }, refusedStatement)
	if err != nil {
		l.Rollback()
		return err
	}
	l.p.release(l.conn)
	l.conn = nil
	return nil
}

func (l *pgPipeline) Rollback() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// If the rollback fails, the connection is not idle, and the pool closes it.
	_, _ = l.conn.Exec(ctx, "ROLLBACK")
	l.p.release(l.conn)
	l.conn = nil
}

func columnsOf(t *Table, names []string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = t.Columns[t.Index(n)]
	}
	return out
}

// arrays turns rows into one array for each column.
func arrays(columns []Column, rows [][]any) []any {
	out := make([]any, len(columns), len(columns)+1)
	for i, c := range columns {
		out[i] = &pgColumn{rows: rows, at: i, of: c.Type}
	}
	return out
}

// pgColumn is one column of a set of rows. pgx sends it as an array, without copying the values.
type pgColumn struct {
	rows [][]any
	at   int
	of   Type
}

func (c *pgColumn) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(c.rows)), LowerBound: 1}}
}

func (c *pgColumn) Index(i int) any { return c.rows[i][c.at] }

func (c *pgColumn) IndexType() any {
	if c.of == Int {
		return int64(0)
	}
	return ""
}

// unnested returns "SELECT unnest($1::text[]) AS a, unnest(…) AS b, …", which turns parallel arrays
// into rows. If unnest were in FROM, PostgreSQL would first store each array as a table.
func unnested(columns []Column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = fmt.Sprintf("unnest($%d::%s[]) AS %s", i+1, map[Type]string{Text: "text", Int: "bigint"}[c.Type], c.Name)
	}
	return "SELECT " + strings.Join(parts, ", ")
}

func matched(by []string) string {
	parts := make([]string, len(by))
	for i, n := range by {
		parts[i] = "t." + n + " = k." + n
	}
	return strings.Join(parts, " AND ")
}

func prefixed(prefix string, names []string) string {
	return prefix + strings.Join(names, ", "+prefix)
}

func lookupSQL(k Lookup) string {
	key := fmt.Sprintf("lookup %s %v %v %v %v %s", k.Table.Name, k.By, k.Columns, k.Lock, k.Free, k.Present)
	return cached(key, func() string {
		s := "SELECT " + prefixed("t.", append(append([]string{}, k.By...), k.Columns...)) +
			" FROM (" + unnested(columnsOf(k.Table, k.By)) + ") AS k" +
			" JOIN " + k.Table.Name + " AS t ON " + matched(k.By)
		if k.Present != "" {
			s += " WHERE t." + k.Present + " <> ''"
		}
		if k.Lock {
			s += " ORDER BY " + prefixed("t.", k.By) + " FOR UPDATE OF t"
			if k.Free {
				s += " SKIP LOCKED"
			}
		}
		return s
	})
}

func insertSQL(t *Table) string {
	return cached("insert "+t.Name, func() string {
		s := "INSERT INTO " + t.Name + " (" + strings.Join(t.Names(), ", ") + ") " + unnested(t.Columns)
		if t.Lenient {
			s += " ON CONFLICT DO NOTHING"
		}
		return s
	})
}

func deleteSQL(w Write) string {
	return cached(fmt.Sprintf("delete %s %v", w.Table.Name, w.By), func() string {
		return "DELETE FROM " + w.Table.Name + " AS t USING (" + unnested(columnsOf(w.Table, w.By)) + ") AS k WHERE " + matched(w.By)
	})
}

// updateSQL returns an SQL statement that updates a set of rows. The SQL statement divides by zero
// if it does not find exactly the rows of the set. So it fails, and the COMMIT that follows in the
// same pipeline fails too.
func updateSQL(w Write) string {
	return cached(fmt.Sprintf("update %s %v %v", w.Table.Name, w.By, w.Set), func() string {
		columns := append(columnsOf(w.Table, w.By), columnsOf(w.Table, w.Set)...)
		set := make([]string, len(w.Set))
		for i, n := range w.Set {
			set[i] = n + " = k." + n
		}
		return "WITH u AS (UPDATE " + w.Table.Name + " AS t SET " + strings.Join(set, ", ") +
			" FROM (" + unnested(columns) + ") AS k WHERE " + matched(w.By) + " RETURNING 1)" +
			fmt.Sprintf(" SELECT 1 / (count(*) = $%d)::int FROM u", len(columns)+1)
	})
}
