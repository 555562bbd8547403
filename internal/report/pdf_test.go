package report_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

func pdf(t testing.TB, s *report.Statement) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, s.PDF(t.Context(), &out))
	return out.Bytes()
}

// These are the left edges of the columns, in points.
const debitAt, creditAt, balanceAt = 303, 385, 467

var naira = regexp.MustCompile(`^-?[0-9,]+\.[0-9]{2}$`)

// readPDF checks that the printed amounts add up, page by page.
func readPDF(t *testing.T, s *report.Statement) {
	t.Helper()
	p := readPaper(t, pdf(t, s))
	var rows [][]string
	for i, page := range p.pages {
		lines := p.lines(page)
		forward := lines[0]
		if i > 0 && (forward[3] != "Balance brought forward" || forward[6] != rows[len(rows)-1][6]) {
			t.Errorf("page %d begins with %q after %q", i+1, forward, rows[len(rows)-1])
		}
		if i > 0 {
			lines = lines[1:]
		}
		rows = append(rows, lines...)
		foot := page[len(page)-1].text
		if foot != "Page "+strconv.Itoa(i+1)+" of" {
			t.Errorf("page %d ends %q", i+1, foot)
		}
	}
	if total := p.words(p.objects["4 0 R"]); len(total) != 1 || total[0].text != strconv.Itoa(len(p.pages)) {
		t.Errorf("%v pages in all, but there are %d", total, len(p.pages))
	}
	last := len(rows) - 1
	totals, closing := rows[last-1], rows[last]
	if rows[0][3] != "Opening balance" || totals[3] != "Totals" || kobo(t, totals[4]) != s.Debits || kobo(t, totals[5]) != s.Credits || closing[3] != "Closing balance" {
		t.Errorf("from %q to %q and %q", rows[0], totals, closing)
	}
	readd(t, s, append(rows[:last-1], closing))
}

// lines returns the rows of the table on a page, with the columns of the CSV file.
func (p *paper) lines(page []word) (out [][]string) {
	begun := false
	rows := map[float64][]string{}
	var order []float64
	for _, w := range page {
		if begun && rows[w.y] == nil {
			rows[w.y], order = make([]string, 8), append(order, w.y)
		}
		switch {
		case w.text == "BALANCE":
			begun = true
		case !begun:
		case w.x >= balanceAt:
			rows[w.y][6] = w.text
		case w.x >= creditAt:
			rows[w.y][5] = w.text
		case w.x >= debitAt:
			rows[w.y][4] = w.text
		default:
			rows[w.y][3] = w.text
		}
	}
	for _, y := range order {
		if r := rows[y]; naira.MatchString(r[6]) || r[3] == "Totals" {
			out = append(out, r)
		}
	}
	return out
}

// many inserts n entries directly, without package ledger, a microsecond apart. A credit of three
// naira and a debit of one naira alternate.
func many(ctx context.Context, d *db.DB, company string, settlementID int64, first time.Time, n int) error {
	account, at := settlement.LedgerAccount(settlementID), first.UnixMicro()
	const numbers = `WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
	_, err := d.Exec(ctx, `INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry, credit_entry, stamp, created_at) `+numbers+`
		SELECT $2, '0199c1f2-7b1e-7c0a-9d3e-' || substr(CAST(1000000000000 + i AS TEXT), 2), '', 'a', $3, 300, 'credit', 'A transfer with the number ' || i, i, i, 0, $4 + i FROM n`,
		n, company, account, at)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, `INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at) `+numbers+`
		SELECT $2, $3, i, '0199c1f2-7b1e-7c0a-9d3e-' || substr(CAST(1000000000000 + i AS TEXT), 2), '', CASE i % 2 WHEN 1 THEN 300 ELSE -100 END, (i / 2) * 300 - ((i - 1) / 2) * 100, ((i + 1) / 2) * 300 - (i / 2) * 100, $4 + i FROM n`,
		n, company, account, at)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, `UPDATE ledger_account SET entry_sequence = $1 WHERE company_id = $2 AND id = $3`, n, company, account)
	return err
}

func (w *world) many(n int) {
	w.t.Helper()
	must(w.t, many(w.t.Context(), w.db, w.company, w.main, firstDay, n))
	w.clock.Advance(time.Hour)
}

func TestAPDFOfAnyLengthAddsUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		readPDF(t, w.statement(time.Time{}, time.Time{})) // without entries
		w.many(2500)
		// With these numbers of entries, the row of totals moves to the second page.
		for count := 16; count < 30; count++ {
			readPDF(t, w.statement(time.Time{}, firstDay.Add(time.Duration(count)*time.Microsecond)))
		}
		s := w.statement(firstDay.Add(7*time.Microsecond), time.Time{})
		readPDF(t, s)
		if one, two := pdf(t, s), pdf(t, s); !bytes.Equal(one, two) {
			t.Error("one statement was printed in two ways")
		}
	})
}

func TestThePageTreeOfManyPages(t *testing.T) {
	for _, pages := range []int{1, 2, 64, 65, 64*64 - 1, 64 * 64, 64*64 + 1} {
		var out bytes.Buffer
		must(t, report.WritePages(&out, pages))
		p := readPaper(t, out.Bytes())
		if len(p.pages) != pages {
			t.Errorf("%d pages of %d", len(p.pages), pages)
		}
		for i, page := range p.pages {
			if len(page) != 1 || page[0].text != strconv.Itoa(i+1) {
				t.Fatalf("page %d of %d is %v", i+1, pages, page)
			}
		}
	}
}

func TestThePDFShowsEveryEntry(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	texts := []string{
		"Ọláyínká Adéṣínà", "Ẹ̀kọ́ Ńlá, Gbọ́lá Ṣẹ́gun", "Ị Ụ ị ụ ṅ Ṅ", "ƙarfe ɗan Ɓauchi", "₦5,000 – “paid” €2 ½",
		`one (two) \ three\n ((( \( )`, "中文 العربية", "100% <b>&amp; %PDF endstream",
	}
	for _, text := range texts {
		w.fund(w.main, 9_999_999_999_99, text)
	}
	w.fund(w.main, 1, "tab\there\nnew\x00nothing\x1b[1m \u202eturned")
	w.fund(w.main, 1, "")
	w.fund(w.main, 1, strings.Repeat("word ", 60))
	w.fund(w.main, 1, strings.Repeat("M", 400))
	w.clock.Advance(time.Hour)
	s := w.statement(time.Time{}, time.Time{})
	readPDF(t, s)
	p := readPaper(t, pdf(t, s))
	var all strings.Builder
	for _, page := range p.pages {
		for _, word := range page {
			all.WriteString(word.text + "\n")
		}
	}
	printed := all.String()
	for _, text := range append(texts, s.Holder.Company, "9,999,999,999.99", "tab here new nothing [1m turned\n", "…\n", "word word") {
		if !strings.Contains(printed, norm.NFC.String(text)) {
			t.Errorf("%q is not printed in\n%s", text, printed)
		}
	}
	if n := strings.Count(printed, "M…"); n != 1 {
		t.Errorf("what is too long was cut %d times", n)
	}
	if !strings.Contains(p.info, "<FEFF") || !strings.Contains(p.info, "/CreationDate(D:20300301100000Z)") {
		t.Errorf("the file says of itself: %s", p.info)
	}
}

// Other PDF programs can read the PDF. The test runs only those programs that are installed.
func TestOtherProgramsReadThePDF(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight()
	w.pay(w.main, 1, 0, provider.Confirmed, "Ọláyínká (Adéṣínà) \\")
	w.clock.Advance(time.Hour)
	file := filepath.Join(t.TempDir(), "statement.pdf")
	must(t, os.WriteFile(file, pdf(t, w.statement(time.Time{}, time.Time{})), 0o600))
	for _, program := range [][]string{{"qpdf", "--check", file}, {"pdffonts", file}, {"pdftotext", "-layout", file, "-"}} {
		c := exec.Command(program[0], program[1:]...)
		var said, wrong bytes.Buffer
		c.Stdout, c.Stderr = &said, &wrong
		err := c.Run()
		if errors.Is(err, exec.ErrNotFound) {
			t.Logf("there is no %s here", program[0])
			continue
		}
		if err != nil || wrong.Len() != 0 {
			t.Errorf("%s: %v: %s", program[0], err, wrong.String())
		}
		if program[0] == "pdftotext" && !strings.Contains(said.String(), "Ọláyínká (Adéṣínà) \\") {
			t.Errorf("%s reads\n%s", program[0], said.String())
		}
	}
}
