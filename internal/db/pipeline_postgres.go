package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pgPipeline sends each set of rows as arrays, which the SQL function unnest turns back into rows. If
// the database is routed, it sends other SQL statements (pipeline_routed.go).
type pgPipeline struct {
	p    *postgres
	conn *pgxpool.Conn
}

func (p *postgres) pipeline() Pipeline { return &pgPipeline{p: p} }

// keepPlans makes the planner use the primary keys and reuse its plans. Without these settings, a
// plan that was made for a small table would read the whole table after the table has grown.
// Without generic plans, PostgreSQL would plan small look-ups each time, which takes a tenth of a
// batch's time.
const keepPlans = keepKeys + `, set_config('plan_cache_mode', 'force_generic_plan', true)`

// keepKeys is keepPlans without generic plans.
const keepKeys = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), ` +
	`set_config('enable_mergejoin', 'off', true)`

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
		conn, err := l.p.at(ctx, working).Acquire(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
		b.Queue("BEGIN")
		if !l.p.isRouted() {
			b.Queue(keepPlans)
		}
		if l.p.outdated(conn.Conn().PgConn().CustomData()) {
			b.Queue("DISCARD PLANS")
		}
	}
	for _, k := range lookups {
		switch {
		case len(k.Keys) == 0:
		case l.p.isRouted():
			routeLookup(&b, k)
		default:
			set := setOf(columnsOf(k.Table, k.By), k.Keys)
			b.Queue(lookupSQL(k, set), set.arguments()...).Query(func(rows pgx.Rows) error {
				return eachRow(rows, k)
			})
		}
	}
	senderOf(l.conn.Conn()).begin(l.conn.Conn())
	if err := l.conn.SendBatch(ctx, &b).Close(); err != nil {
		l.Rollback()
		return l.p.moved(err)
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
	if l.p.isRouted() {
		return l.commitRouted(ctx, writes)
	}
	var b pgx.Batch
	for _, w := range writes {
		switch {
		case len(w.Rows) == 0:
		case w.Delete:
			set := setOf(columnsOf(w.Table, w.By), w.Rows)
			b.Queue(deleteSQL(w, set), set.arguments()...)
		case w.Set == nil:
			set := setOf(w.Table.Columns, w.Rows)
			b.Queue(insertSQL(w.Table, set), set.arguments()...)
		default:
			set := setOf(append(columnsOf(w.Table, w.By), columnsOf(w.Table, w.Set)...), w.Rows)
			b.Queue(updateSQL(w, set), append(set.arguments(), len(w.Rows))...)
		}
	}
	b.Queue("COMMIT")
	return l.ended(l.p.committing(l.conn, func(c *pgx.Conn) error {
		senderOf(c).begin(c)
		return c.SendBatch(ctx, &b).Close()
	}, refusedStatement))
}

// ended returns the connection to the pool after a COMMIT, or rolls back after the error of a COMMIT.
func (l *pgPipeline) ended(err error) error {
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

// rowSet is a set of rows as the parameters of an SQL statement.
type rowSet struct {
	columns []Column
	rows    [][]any
	same    bool // all rows have the same value in the first column, which is sent only once. A row has no other column only if it is the only row.
}

func setOf(columns []Column, rows [][]any) rowSet {
	first := rows[0][0]
	return rowSet{columns, rows, (len(columns) > 1 || len(rows) == 1) && !slices.ContainsFunc(rows, func(r []any) bool { return r[0] != first })}
}

// arguments returns one array for each column.
func (s rowSet) arguments() []any {
	out := make([]any, len(s.columns), len(s.columns)+1)
	for i, c := range s.columns {
		out[i] = &pgColumn{rows: s.rows, at: i, of: c.Type}
	}
	if s.same {
		out[0] = s.rows[0][0]
	}
	return out
}

// pgTypes names the types of columns.
var pgTypes = map[Type]string{Text: "text", Int: "bigint"}

// selected returns "SELECT unnest($1::text[]) AS a, unnest(…) AS b, …", which turns parallel arrays
// into rows. If unnest were in FROM, PostgreSQL would first store each array as a table.
func (s rowSet) selected() string {
	parts := make([]string, len(s.columns))
	for i, c := range s.columns {
		form := "unnest($%d::%s[]) AS %s"
		if i == 0 && s.same {
			form = "$%d::%s AS %s"
		}
		parts[i] = fmt.Sprintf(form, i+1, pgTypes[c.Type], c.Name)
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

func lookupSQL(k Lookup, set rowSet) string {
	key := fmt.Sprintf("lookup %s %v %v %v %v %s %v", k.Table.Name, k.By, k.Columns, k.Lock, k.Free, k.Present, set.same)
	return cached(key, func() string {
		s := "SELECT " + prefixed("t.", append(append([]string{}, k.By...), k.Columns...)) +
			" FROM (" + set.selected() + ") AS k" +
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

func insertSQL(t *Table, set rowSet) string {
	return cached(fmt.Sprintf("insert %s %v", t.Name, set.same), func() string {
		s := "INSERT INTO " + t.Name + " (" + strings.Join(t.Names(), ", ") + ") " + set.selected()
		if t.Lenient {
			s += " ON CONFLICT DO NOTHING"
		}
		return s
	})
}

func deleteSQL(w Write, set rowSet) string {
	return cached(fmt.Sprintf("delete %s %v %v", w.Table.Name, w.By, set.same), func() string {
		return "DELETE FROM " + w.Table.Name + " AS t USING (" + set.selected() + ") AS k WHERE " + matched(w.By)
	})
}

// updateSQL returns an SQL statement that updates a set of rows. The SQL statement divides by zero
// if it does not find exactly the rows of the set. So it fails, and the COMMIT that follows in the
// same pipeline fails too.
func updateSQL(w Write, set rowSet) string {
	return cached(fmt.Sprintf("update %s %v %v %v", w.Table.Name, w.By, w.Set, set.same), func() string {
		changes := make([]string, len(w.Set))
		for i, n := range w.Set {
			changes[i] = n + " = k." + n
		}
		return "WITH u AS (UPDATE " + w.Table.Name + " AS t SET " + strings.Join(changes, ", ") +
			" FROM (" + set.selected() + ") AS k WHERE " + matched(w.By) + " RETURNING 1)" +
			fmt.Sprintf(" SELECT 1 / (count(*) = $%d)::int FROM u", len(set.columns)+1)
	})
}
