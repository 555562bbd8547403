// Package bulk makes a small ledger big, so that benchmarks can measure how Kobo grows. It copies one
// finished purchase many times inside PostgreSQL, with all its rows. The copies have numbers, balances
// and instants of their own, so the ledger stays sound and kobo verify finds nothing.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// Template is a purchase in a company's ledger. It must be the last thing that happened in the
// company, and it must have its outcome.
type Template struct {
	Company   string
	Operation string // the operation's ID
	Key       string // the idempotencyKey of the purchase, a text that occurs nowhere else in its rows
}

// chunk is how many copies one transaction makes.
const chunk = 50_000

// spacing is the time between two copies, in microseconds.
const spacing = 2

// parts are the tables with the rows of a purchase, with the SQL that joins them and selects the rows.
var parts = []struct{ table, join, where string }{
	{"operation", "", "s.id = $2"},
	{"vtu_purchase", "", "s.id = $2"},
	{"ledger_transfer", "JOIN fill_account AS d ON d.id = s.debit_account JOIN fill_account AS c ON c.id = s.credit_account", "s.reference = $2"},
	{"ledger_entry", "JOIN fill_account AS a ON a.id = s.account_id", "s.reference = $2"},
	{"event", "", "strpos(s.data, $2) > 0"},
	{"idempotency_key", "", "s.subject = $2"},
}

// eventID is the ID of a copy's event, which contains its number as id.Numbered writes it.
const eventID = `'f' || lpad(to_hex((s.sequence + g * h.events) >> 16), 7, '0') || '-' || lpad(to_hex((s.sequence + g * h.events) & 65535), 4, '0')
	|| '-8' || substr(CAST(CAST(md5(i.id || s.id) AS uuid) AS TEXT), 16)`

// numbers are the columns whose values depend on the copy's number g.
var numbers = map[string]string{
	"event.sequence":         "s.sequence + g * h.events",
	"ledger_entry.sequence":  "s.sequence + g * a.entries",
	"previous_kobo":          "s.previous_kobo + g * a.change",
	"current_kobo":           "s.current_kobo + g * a.change",
	"debit_entry":            "s.debit_entry + g * d.entries",
	"credit_entry":           "s.credit_entry + g * c.entries",
	"event.id":               eventID,
	"ledger_transfer.stamp":  "s.stamp + g",
	"leaf":                   "0",
	"mac":                    "''",
	"ledger_entry.reference": "i.id",
}

// Purchases adds n copies of a purchase to a PostgreSQL database. It calls progress with the number of
// copies after each transaction. The settlement account must hold the price of all copies. No program
// may use the company meanwhile.
func Purchases(ctx context.Context, d *db.DB, t Template, n int, progress func(done int)) error {
	if d.Dialect() != db.Postgres {
		return errors.New("bulk: only PostgreSQL databases are filled")
	}
	ctx = db.WithLongTimeout(ctx)
	for from := 1; from <= n; from += chunk {
		to := min(from+chunk-1, n)
		if err := d.Tx(ctx, func(q db.Querier) error { return t.copies(ctx, q, to-from+1) }); err != nil {
			return err
		}
		progress(to)
	}
	_, err := d.Exec(ctx, "ANALYZE")
	return err
}

// copies adds n copies, after those that exist. The last copy is always the template of the numbers,
// so the first n copies and the next n copies are made in the same way.
func (t Template) copies(ctx context.Context, q db.Querier, n int) error {
	for _, prepare := range []string{
		`SET LOCAL synchronous_commit = off`,
		`SET LOCAL enable_seqscan = on`, `SET LOCAL enable_hashjoin = on`,
		`CREATE TEMPORARY TABLE fill_account (id TEXT, entries BIGINT, change BIGINT) ON COMMIT DROP`,
		`CREATE TEMPORARY TABLE fill_head (events BIGINT, dated_at BIGINT, done BIGINT) ON COMMIT DROP`,
	} {
		if _, err := q.Exec(ctx, prepare); err != nil {
			return err
		}
	}
	if _, err := q.Exec(ctx, `INSERT INTO fill_account SELECT account_id, count(*), sum(amount_kobo) FROM ledger_entry
		WHERE company_id = $1 AND reference = $2 GROUP BY account_id`, t.Company, t.Operation); err != nil {
		return err
	}
	// The event sequence of the company shows how many copies exist already.
	if _, err := q.Exec(ctx, `INSERT INTO fill_head SELECT e.events, h.dated_at, (h.event_sequence - e.last) / e.events FROM ledger_head AS h,
		(SELECT count(*) AS events, max(sequence) AS last FROM event WHERE company_id = $1 AND strpos(data, $2) > 0) AS e
		WHERE h.company_id = $1`, t.Company, t.Operation); err != nil {
		return err
	}
	for _, p := range parts {
		statement, err := t.statement(ctx, q, p.table, p.join, p.where)
		if err == nil {
			_, err = q.Exec(ctx, statement, t.Company, t.Operation, t.Key, n)
		}
		if err != nil {
			return fmt.Errorf("bulk: %s: %w", p.table, err)
		}
	}
	if _, err := q.Exec(ctx, `UPDATE ledger_account AS l SET balance_kobo = l.balance_kobo + $2 * a.change,
		entry_sequence = l.entry_sequence + $2 * a.entries FROM fill_account AS a WHERE l.company_id = $1 AND l.id = a.id`, t.Company, n); err != nil {
		return err
	}
	_, err := q.Exec(ctx, `UPDATE ledger_head AS h SET event_sequence = h.event_sequence + $2 * f.events, dated_at = h.dated_at + $2 * $3
		FROM fill_head AS f WHERE h.company_id = $1`, t.Company, n, spacing)
	return err
}

// statement returns the SQL that copies the rows of one table.
func (t Template) statement(ctx context.Context, q db.Querier, table, join, where string) (string, error) {
	columns, err := db.Map[string, string](ctx, q, `SELECT column_name::text, data_type::text FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1`, table)
	if err != nil {
		return "", err
	}
	var names, values []string
	for name, kind := range columns {
		value := "s." + name
		special, own := numbers[table+"."+name]
		if !own {
			special, own = numbers[name]
		}
		switch {
		case own:
			value = special
		case name == "company_id":
		case kind == "text":
			value = "replace(replace(s." + name + ", $2, i.id), $3, $3 || '-' || g)"
		case strings.HasSuffix(name, "_at"), strings.HasSuffix(name, "_until"):
			value = fmt.Sprintf("CASE s.%[1]s WHEN 0 THEN 0 ELSE h.dated_at + (g - h.done) * %[2]d END", name, spacing)
		}
		names, values = append(names, name), append(values, value)
	}
	if !slices.Contains(names, "company_id") {
		return "", errors.New("there is no such table")
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM fill_head AS h CROSS JOIN LATERAL generate_series(h.done + 1, h.done + $4::bigint) AS g
		CROSS JOIN LATERAL (SELECT substr(md5($3 || g), 1, 20) AS id) AS i
		JOIN %s AS s ON s.company_id = $1 AND %s %s`, table, strings.Join(names, ", "), strings.Join(values, ", "), table, where, join), nil
}
