package report

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
)

// PDF writes the statement as a PDF, page by page.
func (s *Statement) PDF(ctx context.Context, w io.Writer) error {
	p := &drawing{statement: s, file: newPDF(w, s.issuer.Logo), balance: s.Opening}
	p.front()
	p.headings()
	p.sum("Opening balance", s.Opening)
	if s.Count == 0 {
		p.remark("There are no entries in this period.")
	}
	if err := s.eachNamed(ctx, p.entry); err != nil {
		return err
	}
	p.totals()
	p.foot()
	total := style{usual, small.size, small.colour}
	var drawn canvas
	drawn.text(total, 0, paperHeight, write(strconv.Itoa(p.pages)))
	return p.file.close("Account statement: "+s.Holder.Company+", "+p.period(), s.MadeAt, drawn)
}

// drawing draws a statement on pages of A4.
type drawing struct {
	canvas
	statement *Statement
	file      *pdf
	pages     int
	y         points     // the lower end of the drawn part of the page
	shaded    bool       // whether the last row is shaded
	balance   money.Kobo // the balance after the last row
}

const (
	margin  points = 36_00
	across         = paperWidth - 2*margin
	edge           = paperWidth - margin
	lowest  points = 800_00 // the lowest place for the lower edge of a row
	padding points = 5_00   // between the edge of a column and its text
)

// columns are the columns of the table, from left to right.
var columns = []struct {
	name  string
	x, to points
	right bool
}{
	{"DATE", margin, margin + 62_00, false},
	{"DETAILS", margin + 62_00, margin + 267_00, false},
	{"DEBIT", margin + 267_00, margin + 349_00, true},
	{"CREDIT", margin + 349_00, margin + 431_00, true},
	{"BALANCE", margin + 431_00, edge, true},
}

const (
	dateColumn = iota
	detailsColumn
	debitColumn
	creditColumn
	balanceColumn
)

var (
	small    = style{usual, 6_80, grey}
	label    = style{usual, 7_50, grey}
	normal   = style{usual, 8_00, ink}
	strong   = style{bold, 8_00, ink}
	emphasis = style{bold, 8_00, navy}
)

func (p *drawing) period() string {
	const day = "2 January 2006"
	return lagos(p.statement.Opened(), day) + " to " + lagos(p.statement.Last(), day)
}

// front draws the top of the first page, with the holder, the period and the sums.
func (p *drawing) front() {
	s := p.statement
	p.pages = 1
	p.letterhead()
	p.box(navy, 0, p.y, paperWidth, 84_00)
	p.left(style{bold, 20_00, white}, margin, p.y+42_00, 300_00, "Account statement")
	p.left(style{usual, 10_00, sky}, margin, p.y+62_00, 300_00, p.period())
	p.right(style{usual, 8_00, sky}, edge, p.y+62_00, 200_00, "Issued "+lagos(s.MadeAt, "2 January 2006, 15:04")+" in Lagos")
	p.y += 106_00
	p.left(label, margin, p.y, 200_00, "Account holder")
	p.y += 4_00
	for _, name := range (style{bold, 14_00, navy}).lines(s.Holder.Company, across, 2) {
		p.y += 15_00
		p.text(style{bold, 14_00, navy}, margin, p.y, name)
	}
	p.y += 22_00
	number := s.Holder.Number
	if number == "" {
		number = "-"
	}
	p.facts("Account name", s.Holder.Account, "Account number", number, "Currency", "Nigerian naira (NGN)")
	p.facts("Bank", s.Holder.Bank, "Settlement account", strconv.FormatInt(s.SettlementID, 10), "Entries", countText(s.Count))
	p.summary()
}

func (p *drawing) facts(pairs ...string) {
	most := 1
	for i := 0; i < len(pairs); i += 2 {
		x := margin + points(i/2)*(across/3)
		p.left(label, x, p.y, across/3, pairs[i])
		lines := style{usual, 9_50, ink}.lines(pairs[i+1], across/3-12_00, 2)
		for n, w := range lines {
			p.text(style{usual, 9_50, ink}, x, p.y+12_00+points(n)*11_00, w)
		}
		most = max(most, len(lines))
	}
	p.y += 18_00 + points(most)*11_00
}

// summary draws the balances and sums in four boxes.
func (p *drawing) summary() {
	s := p.statement
	const gap, height points = 8_00, 44_00
	width := (across - 3*gap) / 4
	for i, sum := range []struct {
		name       string
		amount     money.Kobo
		fill       colour
		name2, sum colour
	}{
		{"Opening balance", s.Opening, pale, grey, navy},
		{"Money in", s.Credits, pale, grey, navy},
		{"Money out", s.Debits, pale, grey, navy},
		{"Closing balance", s.Closing, navy, sky, white},
	} {
		x := margin + points(i)*(width+gap)
		p.box(sum.fill, x, p.y, width, height)
		p.left(style{usual, 8_00, sum.name2}, x+10_00, p.y+16_00, width-20_00, sum.name)
		p.amount(style{bold, 12_00, sum.sum}, x+width-10_00, p.y+34_00, width-20_00, sum.amount)
	}
	p.y += height + 18_00
}

func (p *drawing) headings() {
	p.box(navy, margin, p.y, across, 18_00)
	for i, c := range columns {
		p.cell(i, style{bold, 7_00, white}, 11_70, c.name)
	}
	p.y += 18_00
	p.shaded = false
}

// row begins a row of the table. If the page is full, row begins a new page first.
func (p *drawing) row(height points) {
	if p.y+height > lowest {
		p.turn()
	}
	if p.shaded {
		p.box(pale, margin, p.y, across, height)
	}
	p.shaded = !p.shaded
}

// turn ends the page, and begins the next page with the balance brought forward.
func (p *drawing) turn() {
	s := p.statement
	p.foot()
	p.pages++
	p.left(emphasis, margin, 34_00, 330_00, s.Holder.Company)
	p.left(small, margin, 45_00, 330_00, strings.TrimSpace(s.Holder.Account+"  "+s.Holder.Number))
	p.right(style{bold, 8_00, navy}, edge, 34_00, 180_00, "Account statement")
	p.right(small, edge, 45_00, 180_00, p.period())
	p.y = 54_00
	p.headings()
	p.sum("Balance brought forward", p.balance)
}

func (p *drawing) entry(e Entry) error {
	details := e.Narration
	if strings.TrimSpace(details) == "" {
		details = e.Source
	}
	at := columns[detailsColumn]
	lines := normal.lines(details, at.to-at.x-2*padding, 3)
	refs := small.lines(e.Reference, at.to-at.x-2*padding, 2)
	if own := strings.TrimSpace(e.Labels.ExternalReference + " " + string(e.Labels.Metadata)); own != "" {
		refs = append(refs, small.lines(own, at.to-at.x-2*padding, 3)...)
	}
	if from := e.from(); from != "" {
		refs = append(refs, small.lines(from, at.to-at.x-2*padding, 3)...)
	}
	const first, next, ref, after points = 10_50, 9_60, 8_40, 5_00
	height := first + points(max(len(lines)-1, 0))*next + 60 + points(max(len(refs), 1))*ref + after
	p.row(height)
	p.cell(dateColumn, normal, first, lagos(e.CreatedAt, "02 Jan 2006"))
	p.cell(dateColumn, small, first+ref+60, lagos(e.CreatedAt, "15:04:05"))
	y := p.y + first - next
	for _, w := range lines {
		y += next
		p.text(normal, at.x+padding, y, w)
	}
	y += 60
	for _, w := range refs {
		y += ref
		p.text(small, at.x+padding, y, w)
	}
	if e.Credit {
		p.money(creditColumn, style{usual, 8_00, green}, first, e.Moved())
		if e.Fee != 0 {
			p.cell(creditColumn, small, first+ref+60, "fee returned "+grouped(-e.Fee))
		}
	} else {
		p.money(debitColumn, normal, first, -e.Moved())
		if e.Fee != 0 {
			p.cell(debitColumn, small, first+ref+60, "with a fee of "+grouped(e.Fee))
		}
	}
	p.money(balanceColumn, strong, first, e.Current)
	p.y, p.balance = p.y+height, e.Current
	return p.file.err
}

// from returns the payer of a credit as a line of text, or "".
func (e Entry) from() string {
	if e.SessionID == "" {
		return ""
	}
	payer := strings.Join(strings.Fields(e.Sender.Name+" "+e.Sender.Account+" "+e.Sender.Bank), " ")
	if payer == "" {
		return "Session " + e.SessionID
	}
	return "From " + payer + ", session " + e.SessionID
}

// sum draws a row that has only a name and a balance.
func (p *drawing) sum(name string, k money.Kobo) {
	p.row(18_00)
	p.cell(detailsColumn, emphasis, 11_70, name)
	p.money(balanceColumn, emphasis, 11_70, k)
	p.y += 18_00
}

func (p *drawing) remark(text string) {
	p.row(24_00)
	p.cell(detailsColumn, label, 15_00, text)
	p.y += 24_00
}

func (p *drawing) totals() {
	s := p.statement
	if p.y+60_00 > lowest {
		p.turn()
	}
	p.box(navy, margin, p.y, across, 80)
	p.cell(detailsColumn, emphasis, 13_00, "Totals")
	p.money(debitColumn, emphasis, 13_00, s.Debits)
	p.money(creditColumn, emphasis, 13_00, s.Credits)
	p.y += 20_00
	p.box(navy, margin, p.y, across, 20_00)
	p.cell(detailsColumn, style{bold, 8_00, white}, 12_70, "Closing balance")
	p.money(balanceColumn, style{bold, 8_00, white}, 12_70, s.Closing)
	p.y += 20_00
	end := write("End of statement")
	p.text(small, (paperWidth-small.width(end))/2, p.y+16_00, end)
}

// foot draws the bottom of the page and ends the page. The total number of pages is known only at
// the end of the file. So each page refers to a drawing with this number, and the end of the file
// contains that drawing. The width of the number is estimated.
func (p *drawing) foot() {
	p.box(line, margin, 806_00, across, 60)
	p.left(small, margin, 817_00, 400_00, "Amounts in naira (NGN), times in Lagos (UTC+1). Opening balance plus money in, less money out, is the closing balance.")
	width := small.width(write(strconv.FormatInt(max(p.statement.Count/25, int64(p.pages)), 10)))
	p.right(small, edge-width-2_00, 817_00, 100_00, "Page "+strconv.Itoa(p.pages)+" of")
	p.draws("Total", edge-width, 817_00)
	p.file.page(p.canvas)
	p.canvas = p.canvas[:0]
}

// cell draws a text in a column of the current row.
func (p *drawing) cell(column int, s style, below points, text string) {
	c := columns[column]
	if c.right {
		p.right(s, c.to-padding, p.y+below, c.to-c.x-2*padding, text)
		return
	}
	p.left(s, c.x+padding, p.y+below, c.to-c.x-2*padding, text)
}

func (p *drawing) money(column int, s style, below points, k money.Kobo) {
	c := columns[column]
	p.amount(s, c.to-padding, p.y+below, c.to-c.x-2*padding, k)
}

func countText(n int64) string { return strings.TrimSuffix(grouped(money.Kobo(n)*money.Naira), ".00") }

// grouped returns an amount with commas between thousands, such as 1,234,567.00.
func grouped(k money.Kobo) string {
	whole, cents, _ := strings.Cut(k.Decimal(), ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + cents
}
