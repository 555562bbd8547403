package report

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/xuri/excelize/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
)

// mostRows is how many entries go on one sheet: a sheet ends at 1,048,576 rows.
const mostRows = 1_000_000

// XLSX writes the statement as a workbook. Rows wait in a temporary file and not
// in memory; what has more of them than a sheet holds goes on with another.
func (s *Statement) XLSX(ctx context.Context, w io.Writer) (err error) {
	f := excelize.NewFile()
	defer func() { err = errors.Join(err, f.Close()) }() // removes the temporary files
	// The library would gather the finished file in memory first.
	f.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(w) })
	b := &workbook{file: f, statement: s}
	if err := b.styles(); err != nil {
		return err
	}
	if err := b.open(); err != nil {
		return err
	}
	if err := s.Each(ctx, b.entry); err != nil {
		return err
	}
	if err := b.close(); err != nil {
		return err
	}
	_, err = f.WriteTo(w)
	return err
}

// workbook is a statement being written, sheet after sheet.
type workbook struct {
	file                                  *excelize.File
	statement                             *Statement
	sheet                                 *excelize.StreamWriter
	sheets                                int
	row                                   int
	title, heading, amount, moment, total int // styles
}

func (b *workbook) styles() error {
	var wrong []error
	style := func(s excelize.Style) int {
		n, err := b.file.NewStyle(&s)
		wrong = append(wrong, err)
		return n
	}
	naira, when := "#,##0.00", "yyyy-mm-dd hh:mm:ss"
	b.title = style(excelize.Style{Font: &excelize.Font{Bold: true, Size: 16, Color: "16324F"}})
	b.heading = style(excelize.Style{
		Font: &excelize.Font{Bold: true, Color: "FFFFFF"}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"16324F"}},
	})
	b.amount = style(excelize.Style{CustomNumFmt: &naira})
	b.moment = style(excelize.Style{CustomNumFmt: &when, Alignment: &excelize.Alignment{Horizontal: "left"}})
	b.total = style(excelize.Style{
		CustomNumFmt: &naira, Font: &excelize.Font{Bold: true}, Border: []excelize.Border{{Type: "top", Style: 1, Color: "16324F"}},
	})
	return errors.Join(wrong...)
}

// open begins a sheet: the first with whose account it is, every one with its
// headings.
func (b *workbook) open() (err error) {
	b.sheets++
	name := "Statement"
	if b.sheets == 1 {
		err = b.file.SetSheetName("Sheet1", name)
	} else {
		name = fmt.Sprintf("Statement %d", b.sheets)
		_, err = b.file.NewSheet(name)
	}
	if err != nil {
		return err
	}
	if b.sheet, err = b.file.NewStreamWriter(name); err != nil {
		return err
	}
	b.row = 0
	if err := errors.Join(
		b.sheet.SetColWidth(1, 1, 20), b.sheet.SetColWidth(2, 2, 38), b.sheet.SetColWidth(3, 3, 12),
		b.sheet.SetColWidth(4, 4, 44), b.sheet.SetColWidth(5, 8, 18),
	); err != nil {
		return err
	}
	if b.sheets == 1 {
		if err := b.front(); err != nil {
			return err
		}
	}
	heads := make([]any, len(headings))
	for i, h := range headings {
		heads[i] = excelize.Cell{StyleID: b.heading, Value: h}
	}
	return b.write(heads...)
}

func (b *workbook) front() error {
	s := b.statement
	period := clock.Text(s.Opened()) + " to " + clock.Text(s.Last())
	return errors.Join(
		b.write(excelize.Cell{StyleID: b.title, Value: "Account statement"}),
		b.write("Company", s.Holder.Company),
		b.write("Account", s.Holder.Account+" ("+strconv.FormatInt(s.SettlementID, 10)+")"),
		b.write("Bank account", s.Holder.Number+" "+s.Holder.Bank),
		b.write("Period (UTC)", period),
		b.write("Opening balance", b.naira(s.Opening)),
		b.write("Credits", b.naira(s.Credits)),
		b.write("Debits", b.naira(s.Debits)),
		b.write("Closing balance", b.naira(s.Closing)),
		b.write(),
	)
}

func (b *workbook) entry(e Entry) error {
	if b.row >= mostRows {
		if err := b.sheet.Flush(); err != nil {
			return err
		}
		if err := b.open(); err != nil {
			return err
		}
	}
	var debit, credit, fee any
	if e.Credit {
		credit = b.naira(e.Moved())
	} else {
		debit = b.naira(-e.Moved())
	}
	if e.Fee != 0 {
		fee = b.naira(e.Fee)
	}
	return b.write(excelize.Cell{StyleID: b.moment, Value: e.CreatedAt}, e.Reference, e.Source, e.Narration, debit, credit, b.naira(e.Current), fee)
}

// close ends the last sheet with what the columns come to.
func (b *workbook) close() error {
	s := b.statement
	sum := func(k money.Kobo) excelize.Cell { return excelize.Cell{StyleID: b.total, Value: number(k)} }
	label := excelize.Cell{StyleID: b.total, Value: "Closing balance"}
	return errors.Join(b.write(label, nil, nil, nil, sum(s.Debits), sum(s.Credits), sum(s.Closing)), b.sheet.Flush())
}

func (b *workbook) write(values ...any) error {
	b.row++
	return b.sheet.SetRow("A"+strconv.Itoa(b.row), values)
}

func (b *workbook) naira(k money.Kobo) excelize.Cell {
	return excelize.Cell{StyleID: b.amount, Value: number(k)}
}

// number is naira as a spreadsheet keeps every number. It is written out and
// never computed with; up to 2^53 kobo, ninety times the largest amount times a
// million, it keeps every digit that is shown.
func number(k money.Kobo) any {
	n, err := strconv.ParseFloat(k.Decimal(), 64)
	if err != nil {
		return k.Decimal()
	}
	return n
}
