package report

import (
	"errors"
	"io"
	"slices"
	"time"
)

// Sheet writes the rows of a list as a workbook with one sheet, row by row. The file is whole only after Close.
type Sheet struct {
	book   *workbook
	most   int64
	amount []bool // the columns with amounts in naira
}

// errLongSheet refuses a list that does not fit, because a file without its last rows would look whole.
var errLongSheet = errors.New("report: a sheet of a workbook has room for 1,048,576 rows")

// NewSheet begins a workbook with the headings of a list. The columns with these names have amounts in naira.
func NewSheet(w io.Writer, made time.Time, head []string, amounts ...string) (*Sheet, error) {
	s := &Sheet{book: newWorkbook(w, made), most: sheetRows}
	widths, heads := make([]int, len(head)), make([]cell, len(head))
	for i, name := range head {
		widths[i], heads[i] = 24, words(headingStyle, name)
		s.amount = append(s.amount, slices.Contains(amounts, name))
	}
	s.book.begin([]string{"List"})
	s.book.sheet(widths)
	s.book.row(heads...)
	return s, s.book.err
}

// Write writes the next row.
func (s *Sheet) Write(row []string) error {
	if s.book.at == s.most {
		return errLongSheet
	}
	cells := make([]cell, len(row))
	for i, text := range row {
		switch {
		case text == "":
		case s.amount[i]:
			cells[i] = cell{style: amountStyle, number: text}
		default:
			cells[i] = words(plainStyle, text)
		}
	}
	s.book.row(cells...)
	return s.book.err
}

// Close ends the file.
func (s *Sheet) Close() error { return s.book.end() }
