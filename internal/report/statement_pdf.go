package report

import (
	"context"
	"io"
	"strconv"
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/unicode/norm"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
)

// MostPrinted is how many entries a PDF may have, about 350 pages: it is
// laid out in memory, and nobody reads more. The other formats have no end.
const MostPrinted = 10_000

var errTooLong = fault.Newf(fault.Refused,
	"A PDF statement has at most %d entries: choose a shorter period or another format", MostPrinted)

// Printable refuses a statement that is too long for paper.
func (s *Statement) Printable() error {
	if s.Count > MostPrinted {
		return errTooLong
	}
	return nil
}

// PDF writes the statement for paper.
func (s *Statement) PDF(ctx context.Context, w io.Writer) error {
	if err := s.Printable(); err != nil {
		return err
	}
	p := newPaper(s)
	p.AddPage()
	p.front()
	p.headings()
	p.balance("Opening balance", s.Opening)
	if err := s.Each(ctx, func(e Entry) error { p.entry(e); return p.Error() }); err != nil {
		return err
	}
	p.totals()
	return p.Output(w)
}

// Colours, as red, green and blue.
type colour [3]int

var (
	navy  = colour{22, 50, 79}
	ink   = colour{33, 37, 41}
	grey  = colour{120, 128, 136}
	pale  = colour{244, 247, 250}
	line  = colour{208, 215, 222}
	white = colour{255, 255, 255}
	green = colour{20, 108, 67}
)

// mm is a length on paper.
type mm = float64

// paper is a statement being laid out on A4.
type paper struct {
	*fpdf.Fpdf
	statement *Statement
	western   func(string) string
	y         mm
	shaded    bool
}

const (
	left   = 12
	across = 186 // from margin to margin
	lowest = 279 // the last row ends above it
	rowed  = 9   // the height of a row: details above, reference below
)

// columns are the table's, from the left.
var columns = []struct {
	name, align string
	x, width    mm
}{
	{"DATE (UTC)", "L", left, 28},
	{"DETAILS", "L", left + 28, 76},
	{"DEBIT", "R", left + 104, 26},
	{"CREDIT", "R", left + 130, 26},
	{"BALANCE", "R", left + 156, 30},
}

func newPaper(s *Statement) *paper {
	p := &paper{Fpdf: fpdf.New("P", "mm", "A4", ""), statement: s}
	p.western = p.UnicodeTranslatorFromDescriptor("")
	p.SetMargins(left, left, left)
	p.SetAutoPageBreak(false, 0)
	p.SetCellMargin(1.5)
	p.AliasNbPages("{n}")
	p.SetTitle("Account statement", true)
	p.SetCreationDate(s.MadeAt)
	p.SetModificationDate(s.MadeAt)
	p.SetFooterFunc(p.foot)
	return p
}

// front is the head of the first page: whose account it is, for when, and what
// it comes to.
func (p *paper) front() {
	s := p.statement
	p.block(navy, 0, 0, 210, 34)
	p.say(left, 9, 110, 9, "L", "B", 18, white, "Account statement")
	p.say(left, 19, 110, 6, "L", "", 10, white, s.Holder.Company)
	p.say(120, 10, 78, 6, "R", "", 9, white, s.Opened().Format("2 January 2006")+" to "+s.Last().Format("2 January 2006"))
	p.say(120, 19, 78, 6, "R", "", 8, white, "Made on "+s.MadeAt.Format("2 January 2006 15:04")+" UTC")
	p.y = 40
	p.fact("Account", s.Holder.Account+"  (no. "+strconv.FormatInt(s.SettlementID, 10)+")")
	if s.Holder.Number != "" {
		p.fact("Bank account", s.Holder.Number+"  "+s.Holder.Bank)
	}
	p.fact("Currency", "Nigerian naira (NGN)")
	p.fact("Entries", strconv.FormatInt(s.Count, 10))
	p.y += 3
	for i, sum := range []struct {
		name   string
		amount money.Kobo
	}{{"Opening balance", s.Opening}, {"Money in", s.Credits}, {"Money out", s.Debits}, {"Closing balance", s.Closing}} {
		x := left + mm(i)*47
		p.block(pale, x, p.y, 45, 16)
		p.say(x, p.y+2, 45, 5, "L", "", 8, grey, sum.name)
		p.say(x, p.y+8, 45, 6, "L", "B", 11, navy, grouped(sum.amount))
	}
	p.y += 22
}

func (p *paper) fact(name, value string) {
	p.say(left, p.y, 32, 5, "L", "", 8, grey, name)
	p.say(left+30, p.y, 150, 5, "L", "", 9, ink, value)
	p.y += 5
}

func (p *paper) headings() {
	p.block(navy, left, p.y, across, 7)
	for _, c := range columns {
		p.say(c.x, p.y, c.width, 7, c.align, "B", 7, white, c.name)
	}
	p.y += 7
	p.shaded = false
}

// next begins a row of the table, on another page if this one is full.
func (p *paper) next() {
	if p.y+rowed > lowest {
		p.AddPage()
		p.y = left
		p.say(left, p.y, 120, 6, "L", "B", 10, navy, p.statement.Holder.Company)
		p.say(120, p.y, 78, 6, "R", "", 8, grey, p.statement.Holder.Account)
		p.y += 9
		p.headings()
	}
	if p.shaded {
		p.block(pale, left, p.y, across, rowed)
	}
	p.shaded = !p.shaded
}

func (p *paper) entry(e Entry) {
	p.next()
	details := e.Narration
	if details == "" {
		details = e.Source
	}
	small := e.Reference
	if e.Fee != 0 {
		small += "  -  includes a fee of " + e.Fee.Decimal()
	}
	p.cell(0, 1, 4, "", 8, ink, e.CreatedAt.Format("02 Jan 2006"))
	p.cell(0, 5, 3, "", 6, grey, e.CreatedAt.Format("15:04:05"))
	p.cell(1, 1, 4, "", 8, ink, details)
	p.cell(1, 5, 3, "", 6, grey, small)
	if e.Credit {
		p.cell(3, 1, 4, "", 8, green, grouped(e.Moved()))
	} else {
		p.cell(2, 1, 4, "", 8, ink, grouped(-e.Moved()))
	}
	p.cell(4, 1, 4, "B", 8, ink, grouped(e.Current))
	p.y += rowed
}

// balance is a row with nothing but a balance.
func (p *paper) balance(name string, k money.Kobo) {
	p.next()
	p.cell(1, 2, 5, "B", 8, navy, name)
	p.cell(4, 2, 5, "B", 8, navy, grouped(k))
	p.y += rowed
}

// totals ends the table: what the columns come to.
func (p *paper) totals() {
	p.next()
	p.block(navy, left, p.y, across, 0)
	p.cell(1, 2, 5, "B", 8, navy, "Closing balance")
	p.cell(2, 2, 5, "B", 8, navy, grouped(p.statement.Debits))
	p.cell(3, 2, 5, "B", 8, navy, grouped(p.statement.Credits))
	p.cell(4, 2, 5, "B", 8, navy, grouped(p.statement.Closing))
	p.y += rowed
}

func (p *paper) foot() {
	p.SetDrawColor(line[0], line[1], line[2])
	p.Line(left, 283, left+across, 283)
	p.say(left, 284, 130, 5, "L", "", 7, grey, "All times are UTC. Opening balance plus money in, less money out, is the closing balance.")
	p.say(170, 284, 28, 5, "L", "", 7, grey, "Page "+strconv.Itoa(p.PageNo())+" of {n}")
}

// cell writes into a column of the row at hand.
func (p *paper) cell(column int, below, height mm, style string, size mm, c colour, text string) {
	at := columns[column]
	p.say(at.x, p.y+below, at.width, height, at.align, style, size, c, text)
}

// say writes a text into a box. What does not fit is cut, with dots.
func (p *paper) say(x, y, w, h mm, align, style string, size mm, c colour, text string) {
	p.SetFont("Helvetica", style, size)
	p.SetTextColor(c[0], c[1], c[2])
	p.SetXY(x, y)
	text = p.western(bare(text))
	if p.GetStringWidth(text) > w-3 {
		for text != "" && p.GetStringWidth(text+"...") > w-3 {
			text = text[:len(text)-1] // one byte a letter, in this encoding
		}
		text += "..."
	}
	p.CellFormat(w, h, text, "", 0, align+"M", false, 0, "")
}

// block fills a rectangle; one without height is a line.
func (p *paper) block(c colour, x, y, w, h mm) {
	if h == 0 {
		p.SetDrawColor(c[0], c[1], c[2])
		p.Line(x, y, x+w, y)
		return
	}
	p.SetFillColor(c[0], c[1], c[2])
	p.Rect(x, y, w, h, "F")
}

// bare is a text without the marks on letters that the fonts every reader of PDF
// has do not hold: Ọláyínká is printed Oláyínká.
func bare(text string) string {
	var out strings.Builder
	for _, r := range norm.NFC.String(text) {
		switch {
		case r <= unicode.MaxLatin1:
			out.WriteRune(r)
		case r == '₦':
			out.WriteString("NGN ")
		default:
			for _, part := range norm.NFD.String(string(r)) {
				if !unicode.Is(unicode.Mn, part) {
					out.WriteRune(part)
				}
			}
		}
	}
	return out.String()
}

// grouped is an amount with its thousands apart: 1,234,567.00.
func grouped(k money.Kobo) string {
	whole, cents, _ := strings.Cut(k.Decimal(), ".")
	sign := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if sign {
		whole = "-" + whole
	}
	return whole + "." + cents
}
