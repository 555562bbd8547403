package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// holders contains the tables that were declared with Rights.
var holders []*Table

// Rights returns the rule for a table whose rows hold rights, such as API keys. The rule adds the
// column mac as the last column. It is not a field of the Go type, because only the ledger writes it.
//
// The MAC of a row covers its primary key and the named columns. Unlike evidence, such a row changes.
// The ledger signs the row again in the batch that changes it. So a column that other SQL statements
// write must not be among the named ones.
func Rights(columns ...string) Rule {
	return func(t *Table) {
		if t.Lenient || t.Evidence {
			panic("db: the rows of " + t.Name + " cannot hold rights")
		}
		t.Columns = append(t.Columns, Column{"mac", Text})
		t.Rights = make([]bool, len(t.Columns))
		for i := range t.Key {
			t.Rights[i] = true
		}
		for _, name := range columns {
			i := t.Index(name)
			if i < 0 {
				panic(fmt.Sprintf("db: %s has no column %s", t.Name, name))
			}
			t.Rights[i] = true
		}
		holders = append(holders, t)
	}
}

// RightsTables returns all tables whose rows hold rights, in the order of their names.
func RightsTables() []*Table {
	out := slices.Clone(holders)
	slices.SortFunc(out, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Covered returns the names of the columns with rights, without those of the primary key.
func (t *Table) Covered() (names []string) {
	for i, c := range t.Columns {
		if t.Rights != nil && i >= t.Key && t.Rights[i] {
			names = append(names, c.Name)
		}
	}
	return names
}

// broken is the MAC of a row whose earlier MAC was wrong. No content has this MAC.
const broken = "!"

// Renew returns the MAC of a row of rights that changes. Both rows have a value for each column that
// the MAC covers, and the row before has its MAC. If that MAC is wrong, somebody has altered the row,
// and so the new MAC is wrong too. A row without a MAC stays without one until kobo adopt signs it.
func Renew(by Signer, t *Table, before, after []any, buffer []byte) (mac string, content []byte) {
	old, _ := before[len(before)-1].(string)
	if old == "" {
		return "", buffer
	}
	buffer = Content(buffer[:0], t, before)
	if !by.Verify(buffer, old) {
		return broken, buffer
	}
	buffer = Content(buffer[:0], t, after)
	return by.MAC(buffer), buffer
}

// eachRowPage is the number of rows that EachRow reads at a time.
const eachRowPage = 500

// EachRow calls the function use with the pages of all rows of a table, in the order of the primary
// key. If the table has companies, EachRow reads the rows of one company.
func EachRow(ctx context.Context, q Querier, t *Table, company string, use func(page [][]any) error) error {
	return eachPage(t, company, func(query string, args []any) ([][]any, error) { return All(ctx, q, scanAny(t), query, args...) }, use)
}

// EachPage does the same as EachRow, and reads each page in a snapshot of its own (Ordered). So the
// function use may change the rows, and the cost of a page does not grow with the table.
func (d *DB) EachPage(ctx context.Context, t *Table, company string, use func(page [][]any) error) error {
	return eachPage(t, company, func(query string, args []any) (page [][]any, err error) {
		err = d.Ordered(ctx, func(q Querier) error {
			page, err = All(ctx, q, scanAny(t), query, args...)
			return err
		})
		return page, err
	}, use)
}

// eachPage calls the function use with each page that the function read returns for a query.
func eachPage(t *Table, company string, read func(query string, args []any) ([][]any, error), use func(page [][]any) error) error {
	keys := t.KeyNames()
	query := "SELECT " + strings.Join(t.Names(), ", ") + " FROM " + t.Name
	first, after, own := " WHERE 1 = 1", []any(nil), 0
	if t.OfCompanies() {
		// The comparison with the last key leaves out the company. With it, SQLite finds a page only by the
		// company, and reads all earlier rows again.
		first, after, own = " WHERE company_id = $1", []any{company}, 1
	}
	next := first + " AND (" + strings.Join(keys[own:], ", ") + ") > (" + numbered(1+own, t.Key-own) + ")"
	rest := " ORDER BY " + strings.Join(keys, ", ") + " LIMIT " + strconv.Itoa(eachRowPage)
	for where := first; ; where = next {
		page, err := read(query+where+rest, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := use(page); err != nil || len(page) < eachRowPage {
			return err
		}
		after = page[len(page)-1][:t.Key]
	}
}

// OfCompanies reports whether each row of the table belongs to a company.
func (t *Table) OfCompanies() bool { return t.Columns[0].Name == "company_id" }

// scanAny returns a function that reads a row with all columns of the table.
func scanAny(t *Table) func(s Scanner) ([]any, error) {
	return func(s Scanner) ([]any, error) {
		row, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		return row, s.Scan(into...)
	}
}
