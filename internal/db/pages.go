package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// One long text is cheaper to read than many rows, especially on SQLite. So Pages makes the
// database join the rows of a page into one text. fieldMark separates the fields of a row, and
// rowMark separates the rows.
const (
	fieldMark = "\x1f"
	rowMark   = "\x1e"
)

// PageRows is the largest number of rows in a page.
const PageRows = 1000

// Pages runs an SQL statement page by page, and calls the function use with each row. A row is a
// list of texts, and the parameter fields is the number of these texts. No value may be NULL. The
// list is valid only until use returns.
//
// The SQL statement must select texts and numbers, ordered by a key. Its parameters contain the key
// of the first row that it returns. Before each page, Pages calls the function at, which returns
// these parameters. After the first page, the function at must return the key of the last row that
// use received. Each further page therefore begins with the last row of the previous page, and
// Pages does not pass that row to use again.
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

// packing returns an SQL statement that joins all rows of the given SQL statement into one text.
func packing(statement string, fields int) string {
	columns := strings.ReplaceAll(numbered(1, fields), "$", "c")
	return "WITH page (" + columns + ") AS (" + statement + ") SELECT count(*), coalesce(string_agg(concat_ws('" +
		fieldMark + "', " + columns + "), '" + rowMark + "'), '') FROM page"
}

// unpacked calls the function each with the rows of a page. If a value contains fieldMark or
// rowMark, it is unknown where the value ends. In this case unpacked does not call each, and
// returns false.
func unpacked(ctx context.Context, q Querier, packed string, fields int, args []any, each func(row []string) error) (bool, error) {
	var rows int
	text, err := One(ctx, q, func(s Scanner) (text string, err error) {
		return text, s.Scan(&rows, &text)
	}, packed, args...)
	if err != nil || rows == 0 {
		return true, err
	}
	// The rows need exactly this number of marks. If the text contains no more, no value contains a
	// mark.
	if strings.Count(text, rowMark) != rows-1 || strings.Count(text, fieldMark) != rows*(fields-1) {
		return false, nil
	}
	row := make([]string, fields)
	for range rows {
		for i := range row[:fields-1] {
			row[i], text = cut(text, fieldMark[0])
		}
		row[fields-1], text = cut(text, rowMark[0])
		if err := each(row); err != nil {
			return true, err
		}
	}
	return true, nil
}

// cut returns the text before the first mark, and the text after it. It is faster than strings.Cut.
func cut(text string, mark byte) (before, after string) {
	i := strings.IndexByte(text, mark)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+1:]
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

// Numbers parses texts from Pages into integers.
func Numbers(texts []string, into ...*int64) (err error) {
	for i, n := range into {
		if *n, err = strconv.ParseInt(texts[i], 10, 64); err != nil {
			return fmt.Errorf("db: not a number: %w", err)
		}
	}
	return nil
}
