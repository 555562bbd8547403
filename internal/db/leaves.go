package db

import (
	"context"
	"strings"
)

// leavesOfTile is the number in the index of a table's tiles, leaf / 256.
const leavesOfTile = 256

// Leaves calls the function use with the rows of evidence of a table whose numbers are from … to, in the
// order of the numbers. A row has the values of all columns of the table as texts, and is valid only
// until use returns.
func Leaves(ctx context.Context, q Querier, t *Table, company string, from, to int64, use func(leaf int64, row []string) error) error {
	names := t.Names()
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + t.Name + ` WHERE company_id = $1 AND leaf / 256 >= $4 AND leaf / 256 <= $5
		AND leaf >= $2 AND leaf <= $3 ORDER BY leaf / 256, leaf`
	at := from
	return Pages(ctx, q, query, len(names), func() []any { return []any{company, at, to, at / leavesOfTile, to / leavesOfTile} }, func(row []string) error {
		if err := Numbers(row[len(row)-2:], &at); err != nil {
			return err
		}
		return use(at, row)
	})
}
