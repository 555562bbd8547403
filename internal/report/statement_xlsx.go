package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
)

// sheetRows is the maximum number of rows of a sheet. A statement with more rows has several
// sheets.
const sheetRows = 1 << 20

// XLSX writes the statement as a workbook, row by row.
func (s *Statement) XLSX(ctx context.Context, w io.Writer) error { return s.xlsx(ctx, w, sheetRows) }

func (s *Statement) xlsx(ctx context.Context, w io.Writer, rows int64) error {
	b := &ledgerBook{statement: s, rows: rows, workbook: newWorkbook(w, s.MadeAt)}
	b.begin(b.sheets())
	b.open()
	if err := s.eachNamed(ctx, b.entry); err != nil {
		return err
	}
	b.close()
	return b.end()
}

// ledgerBook writes a statement into a workbook, sheet by sheet.
type ledgerBook struct {
	*workbook
	statement *Statement
	rows      int64
	fees      money.Kobo
}

// frontRows is the number of rows above the table on the first sheet.
const frontRows = 10

// sheets returns the names of the sheets. Each sheet has room for its headings and for the
// closing balance.
func (b *ledgerBook) sheets() []string {
	names := []string{"Statement"}
	for left := b.statement.Count - (b.rows - frontRows - 2); left > 0; left -= b.rows - 2 {
		names = append(names, fmt.Sprintf("Statement %d", len(names)+1))
	}
	return names
}

// open begins a sheet with the headings of the table. On the first sheet, the account's details are
// above the headings.
func (b *ledgerBook) open() {
	b.sheet([]int{24, 38, 12, 44, 18, 18, 18, 18, 38, 44, 32, 14, 18, 34})
	if b.opened == 1 {
		b.front()
	}
	heads := []cell{words(headingStyle, "Date (Lagos)")}
	for _, h := range slices.Concat(amountHeadings, lastHeadings) {
		heads = append(heads, words(headingStyle, h))
	}
	b.row(heads...)
}

func (b *ledgerBook) front() {
	s := b.statement
	head := s.issuer.lines()
	pair := func(name, value string) {
		row := []cell{words(plainStyle, name), words(plainStyle, value)}
		if len(head) > 0 {
			row = append(row, cell{}, words(plainStyle, head[0]))
			head = head[1:]
		}
		b.row(row...)
	}
	sum := func(name string, k money.Kobo) { b.row(words(plainStyle, name), naira(amountStyle, k)) }
	b.row(words(titleStyle, "Account statement"))
	pair("Company", s.Holder.Company)
	pair("Account", s.Holder.Account+" ("+strconv.FormatInt(s.SettlementID, 10)+")")
	pair("Bank account", s.Holder.Number+" "+s.Holder.Bank)
	pair("Period (Lagos)", lagos(s.Opened(), time.DateTime)+" to "+lagos(s.Last(), time.DateTime))
	sum("Opening balance", s.Opening)
	sum("Credits", s.Credits)
	sum("Debits", s.Debits)
	sum("Closing balance", s.Closing)
	b.row()
}

func (b *ledgerBook) entry(e Entry) error {
	if b.at == b.rows-1 {
		b.open()
	}
	var debit, credit, fee cell
	if e.Credit {
		credit = naira(amountStyle, e.Moved())
	} else {
		debit = naira(amountStyle, -e.Moved())
	}
	if e.Fee != 0 {
		fee = naira(amountStyle, e.Fee)
		b.fees += e.Fee
	}
	row := []cell{
		moment(e.CreatedAt), words(plainStyle, e.Reference), words(plainStyle, e.Source), words(plainStyle, e.Narration),
		debit, credit, naira(amountStyle, e.Current), fee,
	}
	if last := e.last(); !slices.Equal(last, blank) {
		for _, text := range last {
			row = append(row, words(plainStyle, text))
		}
	}
	b.row(row...)
	return b.err
}

// close ends the table with a row of the closing balance and the sums of the columns.
func (b *ledgerBook) close() {
	s := b.statement
	none := words(totalStyle, "")
	b.row(words(totalStyle, "Closing balance"), none, none, none,
		naira(totalStyle, s.Debits), naira(totalStyle, s.Credits), naira(totalStyle, s.Closing), naira(totalStyle, b.fees))
}

// naira returns a cell with an amount as a number, which is written without floating point.
func naira(style int, k money.Kobo) cell { return cell{style: style, number: k.Decimal()} }

// moment returns a cell with an instant. Spreadsheets count an instant in days since the end of
// 1899, without a time zone, so the cell has the time in Lagos.
func moment(t time.Time) cell {
	const day = int64(24 * time.Hour / time.Millisecond)
	const first = 25_569 // days from the end of 1899 to 1970
	_, ahead := t.In(clock.Lagos).Zone()
	ms := t.UnixMilli() + int64(ahead)*1000 + first*day
	return cell{style: momentStyle, number: fmt.Sprintf("%d.%010d", ms/day, ms%day*10_000_000_000/day)}
}
