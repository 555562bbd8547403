package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// One text is cheaper to read than its rows, above all on SQLite. So Pages has the database
// write a page of rows into one text, with a mark between fields and another between rows.
const (
	fieldMark = "\x1f"
	rowMark   = "\x1e"
)

// PageRows is how many rows a page has at most.
const PageRows = 1000

// Pages calls use with all rows of a table, each as so many texts. No value may be null.
// A row is valid only inside use.
//
// The statement returns texts and numbers in the order of a key, from the row with the key
// that at returns to the last. Pages calls at before each page, after use has seen the
// earlier rows. So each page begins with the last row of the page before, and use does not
// see that row again.
func Pages(ctx context.Context, q Querier, statement string, fields int, at func() []any, use func(row []string) error) error {
	statement += " LIMIT " + strconv.Itoa(PageRows)
	packed := packing(statement, fields)
	for seen := false; ; seen = true {
		rows, again := 0, seen
		each := func(row []string) error {
			rows++
			if again {
				again = false
				return nil
			}
			return use(row)
		}
		args := at()
		done, err := unpacked(ctx, q, packed, fields, args, each)
		if err == nil && !done {
			err = oneByOne(ctx, q, statement, fields, args, each)
		}
		if err != nil || rows < PageRows {
			return err
		}
	}
}

// packing returns a statement that packs the rows of another into one text.
func packing(statement string, fields int) string {
	columns := strings.ReplaceAll(numbered(1, fields), "$", "c")
	return "WITH page (" + columns + ") AS (" + statement + ") SELECT count(*), coalesce(string_agg(concat_ws('" +
		fieldMark + "', " + columns + "), '" + rowMark + "'), '') FROM page"
}

// unpacked calls each with the rows of a page. It returns false and calls nothing if a text
// contains a mark, since the end of that text is unknown.
func unpacked(ctx context.Context, q Querier, packed string, fields int, args []any, each func(row []string) error) (bool, error) {
	var rows int
	text, err := One(ctx, q, func(s Scanner) (text string, err error) {
		return text, s.Scan(&rows, &text)
	}, packed, args...)
	if err != nil || rows == 0 {
		return true, err
	}
	// The rows need this number of marks. If there are no more, no text contains one.
	if strings.Count(text, rowMark) != rows-1 || strings.Count(text, fieldMark) != rows*(fields-1) {
		return false, nil
	}
	row := make([]string, fields)
	for range rows {
		for i := range row[:fields-1] {
			row[i], text, _ = strings.Cut(text, fieldMark)
		}
		row[fields-1], text, _ = strings.Cut(text, rowMark)
		if err := each(row); err != nil {
			return true, err
		}
	}
	return true, nil
}

func oneByOne(ctx context.Context, q Querier, statement string, fields int, args []any, each func(row []string) error) error {
	row, values, into := make([]string, fields), make([]any, fields), make([]any, fields)
	for i := range values {
		into[i] = &values[i]
	}
	_, err := All(ctx, q, func(s Scanner) (none struct{}, err error) {
		if err = s.Scan(into...); err != nil {
			return none, err
		}
		for i, v := range values {
			row[i] = fmt.Sprint(v)
		}
		return none, each(row)
	}, statement, args...)
	return err
}

// Numbers reads texts of Pages that are numbers.
func Numbers(texts []string, into ...*int64) (err error) {
	for i, n := range into {
		if *n, err = strconv.ParseInt(texts[i], 10, 64); err != nil {
			return fmt.Errorf("db: not a number: %w", err)
		}
	}
	return nil
}
