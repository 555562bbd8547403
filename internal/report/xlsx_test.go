package report_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/report"
)

// workbook writes a statement as XLSX with this number of rows on each sheet, and reads the file
// back.
func workbook(t *testing.T, s *report.Statement, rows int64) *excelize.File {
	t.Helper()
	var out bytes.Buffer
	must(t, s.WriteSheets(t.Context(), &out, rows))
	wellFormed(t, out.Bytes())
	f, err := excelize.OpenReader(&out)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// wellFormed checks that every part of the file is XML, and that the file lists every sheet.
func wellFormed(t *testing.T, file []byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	var types string
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		if types == "" {
			types = string(text)
		}
		if strings.HasPrefix(f.Name, "xl/worksheets/") && !strings.Contains(types, `PartName="/`+f.Name+`"`) {
			t.Errorf("%s is not among %s", f.Name, types)
		}
		d := xml.NewDecoder(bytes.NewReader(text))
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
}

func readXLSX(t *testing.T, s *report.Statement) {
	t.Helper()
	f := workbook(t, s, 1<<20)
	rows, err := f.GetRows("Statement")
	must(t, err)
	if rows[0][0] != "Account statement" || rows[1][1] != s.Holder.Company || kobo(t, rows[8][1]) != s.Closing {
		t.Errorf("the front: %q", rows[:10])
	}
	readdSheet(t, s, rows[11:])
	if kind, err := f.GetCellType("Statement", "D15"); err != nil || kind == excelize.CellTypeFormula {
		t.Errorf("a narration is a formula: %v %v", kind, err)
	}
}

// readdSheet adds up all rows of a table and checks the closing row. The argument rows has no row
// of headings.
func readdSheet(t *testing.T, s *report.Statement, rows [][]string) {
	t.Helper()
	running, debits, credits := s.Opening, money.Kobo(0), money.Kobo(0)
	for _, r := range rows[:len(rows)-1] {
		running += kobo(t, r[5]) - kobo(t, r[4])
		debits, credits = debits+kobo(t, r[4]), credits+kobo(t, r[5])
		if running != kobo(t, r[6]) {
			t.Fatalf("%q: the balance should be %s", r, running)
		}
	}
	last := rows[len(rows)-1]
	if last[0] != "Closing balance" || kobo(t, last[4]) != debits || kobo(t, last[5]) != credits || kobo(t, last[6]) != running ||
		running != s.Closing || len(rows) != int(s.Count)+1 {
		t.Errorf("%q after %s, %s and %s", last, debits, credits, running)
	}
}

func TestALongStatementHasSeveralSheets(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	w.fortnight() // 56 entries
	s := w.statement(time.Time{}, time.Time{})
	for limit, sheets := range map[int64]int{20: 4, 23: 4, 24: 3, 67: 2, 68: 1} {
		f := workbook(t, s, limit)
		var all [][]string
		for i, name := range f.GetSheetList() {
			rows, err := f.GetRows(name)
			must(t, err)
			head := 0
			if i == 0 {
				head = 10
			}
			if len(rows) > int(limit) || rows[head][0] != "Date (Lagos)" {
				t.Errorf("%s has %d rows of %d and begins %q", name, len(rows), limit, rows[0])
			}
			all = append(all, rows[head+1:]...)
		}
		if n := len(f.GetSheetList()); n != sheets {
			t.Errorf("%d sheets of %d rows, want %d", n, limit, sheets)
		}
		readdSheet(t, s, all)
	}
}

func TestAWorkbookShowsEveryEntry(t *testing.T) {
	w := newWorld(t, dbtest.New(t, db.SQLite))
	said := map[string]string{
		"Ọláyínká Adéṣínà ₦":        "Ọláyínká Adéṣínà ₦",
		"=1+1":                      "=1+1",
		"<t>&amp;\"'":               "<t>&amp;\"'",
		"two\nlines\tand a tab":     "two\nlines\tand a tab",
		"\x00\x1bno":                "\ufffd\ufffdno",
		"_x0041_x0042_ _x005F_":     "_x0041_x0042_ _x005F_",
		"  spaces  ":                "  spaces  ",
		strings.Repeat("ọ", 20_000): strings.Repeat("ọ", 32_767/3),
	}
	order := make([]string, 0, len(said))
	for text := range said {
		w.fund(w.main, 9_999_999_999_99, text)
		order = append(order, text)
	}
	w.clock.Advance(time.Hour)
	s := w.statement(time.Time{}, time.Time{})
	f := workbook(t, s, 1<<20)
	rows, err := f.GetRows("Statement", excelize.Options{RawCellValue: true})
	must(t, err)
	for i, text := range order {
		r := rows[11+i]
		if r[3] != said[text] || r[5] != "9999999999.99" {
			t.Errorf("%.40q became %.40q, and its amount %s", text, r[3], r[5])
		}
	}
	list, _, err := w.Entries(t.Context(), w.company, report.EntryFilter{SettlementID: w.main}, len(order)-1, 1)
	must(t, err)
	shown, err := f.GetCellValue("Statement", "A12")
	must(t, err)
	if want := strings.TrimSuffix(strings.Replace(clock.Text(list[0].CreatedAt.Add(time.Hour)), "T", " ", 1), "Z"); shown != want {
		t.Errorf("an instant is shown as %s, not %s", shown, want)
	}
}

// A list that does not fit into a sheet is an error, and no shorter file. Amounts are numbers, and a text is never a formula.
func TestASheetHasAllRowsOrIsAnError(t *testing.T) {
	var out bytes.Buffer
	s, err := report.NewSheet(&out, time.Unix(0, 0), []string{"What", "Amount"}, "Amount")
	must(t, err)
	s.MostRows(3)
	must(t, s.Write([]string{"=1+1", "1250.50"}))
	must(t, s.Write([]string{"", ""}))
	if err := s.Write([]string{"one too many", "1.00"}); err == nil {
		t.Error("the sheet took a row for which it has no room")
	}
	must(t, s.Close())
	wellFormed(t, out.Bytes())
	f, err := excelize.OpenReader(&out)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	kind, err := f.GetCellType("List", "B2")
	must(t, err)
	formula, err := f.GetCellFormula("List", "A2")
	must(t, err)
	text, err := f.GetCellValue("List", "A2")
	if err != nil || formula != "" || text != "=1+1" || kind == excelize.CellTypeInlineString {
		t.Error(err, formula, text, kind)
	}
}
