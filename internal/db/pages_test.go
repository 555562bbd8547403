package db_test

import (
	"fmt"
	"slices"
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
