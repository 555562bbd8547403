package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// Pages passes each row to the function use once and in order. It does so even if a value contains
// one of the marks that separate joined rows. It also does so if the rows exactly fill their last
// page.
func TestPagesShowEachRowOnce(t *testing.T) {
	const name = "x"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, err := d.Exec(t.Context(), `CREATE TABLE paged (name TEXT NOT NULL, n BIGINT NOT NULL, words TEXT NOT NULL, PRIMARY KEY (name, n))`)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, rows := range []int{0, 1, db.PageRows - 1, db.PageRows, db.PageRows + 1, 2*db.PageRows - 1, 2 * db.PageRows} {
			for n := len(want); n < rows; n++ {
				words := []string{"", "plain", "a\x1eb\x1fc", "\x1f", "₦"}[n*n%5]
				if n >= db.PageRows {
					words = "packed" // so that the values of the second page contain no marks
				}
				if _, err := d.Exec(t.Context(), `INSERT INTO paged (name, n, words) VALUES ($1, $2, $3)`, name, n-3, words); err != nil {
					t.Fatal(err)
				}
				want = append(want, fmt.Sprintf("%s %d %q", name, n-3, words))
			}
			var got []string
			last := int64(-4)
			err := db.Pages(t.Context(), d, `SELECT n, name, words FROM paged WHERE name = $1 AND n >= $2 ORDER BY n`, 3,
				func() []any { return []any{name, last} },
				func(row []string) error {
					got = append(got, fmt.Sprintf("%s %s %q", row[1], row[0], row[2]))
					return db.Numbers(row, &last)
				})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d rows: got %d of them, %v", rows, len(got), err)
			}
		}
	})
}

// EachPage finds a page by its key, and reads no other row: also if another index has all rows under one
// value, as the rows of evidence have before kobo adopt, and if the database knows nothing about the table.
func TestAPageIsFoundByItsKey(t *testing.T) {
	table := &db.Table{Name: "walked", Columns: append(db.Texts("company_id", "reference", "step"), db.Ints("leaf")...), Key: 3}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		explain, storage, columns := "EXPLAIN QUERY PLAN ", "", make([]any, 3)
		if d.Dialect() == db.Postgres {
			explain, storage, columns = "EXPLAIN ", " WITH (autovacuum_enabled = false)", nil
		}
		exec(t, d, `CREATE TABLE walked (company_id TEXT NOT NULL, reference TEXT NOT NULL, step TEXT NOT NULL, leaf BIGINT NOT NULL,
			PRIMARY KEY (company_id, reference, step))`+storage)
		exec(t, d, `CREATE INDEX walked_leaf ON walked (company_id, leaf)`)
		exec(t, d, `WITH RECURSIVE n (i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 12500)
			INSERT INTO walked SELECT 'c1', CAST(i AS TEXT), '', 0 FROM n`)
		walked, last := 0, ""
		err := d.EachPage(t.Context(), table, "c1", func(page [][]any) error {
			for _, row := range page {
				if walked++; row[1].(string) <= last {
					t.Errorf("%q after %q", row[1], last)
				}
				last = row[1].(string)
			}
			return nil
		})
		if err != nil || walked != 2501 {
			t.Errorf("%d rows: %v", walked, err)
		}
		for i, query := range db.PageQueries(table) {
			args := [][]any{{"c1"}, {"c1", "12000", ""}}[i]
			err := d.Ordered(t.Context(), func(q db.Querier) error {
				plan, err := db.All(t.Context(), q, func(s db.Scanner) (line string, err error) {
					var ignored [3]int64
					for i := range columns {
						columns[i] = &ignored[i]
					}
					return line, s.Scan(append(columns, &line)...)
				}, explain+query, args...)
				text := strings.Join(plan, "\n")
				if strings.Contains(text, "walked_leaf") || strings.Contains(text, "Sort") || strings.Contains(text, "TEMP B-TREE") {
					t.Errorf("page %d is not read in the order of its key:\n%s", i+1, text)
				}
				if i == 1 && !strings.Contains(text, "(reference,step)>(?,?)") && !strings.Contains(text, "(ROW(reference, step) > ROW(") {
					t.Errorf("page %d is not found by its key:\n%s", i+1, text)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// The first error of the function use ends Pages.
func TestPagesEndWithAMistake(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, text := range []string{"word", "mark \x1e"} {
			var number int64
			err := db.Pages(t.Context(), d, `SELECT $1, 'second'`, 2, func() []any { return []any{text} },
				func(row []string) error { return db.Numbers(row, &number) })
			if err == nil {
				t.Errorf("%q is a number: %d", text, number)
			}
		}
	})
}
