package report

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"time"
)

// workbook writes an XLSX file, which is a zip of XML texts, from front to back. It compresses
// and sends each row immediately, so that memory never holds all rows (docs/decisions/0011).
type workbook struct {
	zip    *zip.Writer
	made   time.Time
	out    *bufio.Writer // writes into the open part of the zip file
	opened int           // the number of sheets so far
	at     int64         // the number of rows of the open sheet
	err    error
}

// cell has a number, or a text if number is "". A spreadsheet never executes the text as a formula.
type cell struct {
	style        int
	number, text string
}

func words(style int, text string) cell { return cell{style: style, text: text} }

// These constants are the indexes of the cell styles in xlsxStyles.
const (
	plainStyle = iota
	titleStyle
	headingStyle
	amountStyle
	momentStyle
	totalStyle
)

const (
	xmlHead    = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainSpace  = `"http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	office     = `http://schemas.openxmlformats.org/officeDocument/2006/relationships`
	links      = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	kind       = `application/vnd.openxmlformats-officedocument.spreadsheetml.`
	xlsxStyles = xmlHead + `<styleSheet xmlns=` + mainSpace + `>` +
		`<numFmts count="2"><numFmt numFmtId="164" formatCode="#,##0.00"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss.000"/></numFmts>` +
		`<fonts count="4"><font><sz val="11"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="16"/><color rgb="FF16324F"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>` +
		`<fill><patternFill patternType="solid"><fgColor rgb="FF16324F"/></patternFill></fill></fills>` +
		`<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border>` +
		`<border><left/><right/><top style="thin"><color rgb="FF16324F"/></top><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
		`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
		`<xf numFmtId="0" fontId="2" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1"/>` +
		`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
		`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1"><alignment horizontal="left"/></xf>` +
		`<xf numFmtId="164" fontId="3" fillId="0" borderId="1" xfId="0" applyNumberFormat="1" applyFont="1" applyBorder="1"/></cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
)

func newWorkbook(w io.Writer, made time.Time) *workbook {
	return &workbook{zip: zip.NewWriter(w), made: made.UTC()}
}

// part ends the open file within the zip, and begins the next file.
func (b *workbook) part(name string) {
	if b.out != nil {
		b.keep(b.out.Flush())
	}
	w, err := b.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: b.made})
	if b.keep(err); err == nil {
		b.out = bufio.NewWriterSize(w, 1<<15)
	}
}

func (b *workbook) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *workbook) put(texts ...string) {
	for _, text := range texts {
		if b.err == nil {
			_, b.err = b.out.WriteString(text)
		}
	}
}

// begin writes all parts of the file except the sheets.
func (b *workbook) begin(sheets []string) {
	var types, list, sheetLinks strings.Builder
	for i, name := range sheets {
		n := strconv.Itoa(i + 1)
		types.WriteString(`<Override PartName="/xl/worksheets/sheet` + n + `.xml" ContentType="` + kind + `worksheet+xml"/>`)
		list.WriteString(`<sheet name="` + name + `" sheetId="` + n + `" r:id="rId` + n + `"/>`)
		sheetLinks.WriteString(`<Relationship Id="rId` + n + `" Type="` + office + `/worksheet" Target="worksheets/sheet` + n + `.xml"/>`)
	}
	b.part("[Content_Types].xml")
	b.put(xmlHead, `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`,
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>`,
		`<Override PartName="/xl/workbook.xml" ContentType="`, kind, `sheet.main+xml"/>`,
		`<Override PartName="/xl/styles.xml" ContentType="`, kind, `styles+xml"/>`, types.String(), `</Types>`)
	b.part("_rels/.rels")
	b.put(xmlHead, links, `<Relationship Id="rId1" Type="`, office, `/officeDocument" Target="xl/workbook.xml"/></Relationships>`)
	b.part("xl/workbook.xml")
	b.put(xmlHead, `<workbook xmlns=`, mainSpace, ` xmlns:r="`, office, `"><sheets>`, list.String(), `</sheets></workbook>`)
	b.part("xl/_rels/workbook.xml.rels")
	b.put(xmlHead, links, sheetLinks.String(),
		`<Relationship Id="styles" Type="`, office, `/styles" Target="styles.xml"/></Relationships>`)
	b.part("xl/styles.xml")
	b.put(xlsxStyles)
}

// sheet begins the next sheet, whose columns have these widths.
func (b *workbook) sheet(widths []int) {
	b.endSheet()
	b.opened++
	b.at = 0
	b.part("xl/worksheets/sheet" + strconv.Itoa(b.opened) + ".xml")
	b.put(xmlHead, `<worksheet xmlns=`, mainSpace, `><cols>`)
	for i, width := range widths {
		n := strconv.Itoa(i + 1)
		b.put(`<col min="`, n, `" max="`, n, `" width="`, strconv.Itoa(width), `" customWidth="1"/>`)
	}
	b.put(`</cols><sheetData>`)
}

func (b *workbook) endSheet() {
	if b.opened > 0 {
		b.put(`</sheetData></worksheet>`)
	}
}

// row writes the next row. It leaves out empty cells without a style.
func (b *workbook) row(cells ...cell) {
	b.at++
	n := strconv.FormatInt(b.at, 10)
	b.put(`<row r="`, n, `">`)
	for i, c := range cells {
		if c == (cell{}) {
			continue
		}
		b.put(`<c r="`, string(rune('A'+i)), n, `" s="`, strconv.Itoa(c.style))
		switch {
		case c.number != "":
			b.put(`"><v>`, c.number, `</v></c>`)
		case c.text != "":
			b.put(`" t="inlineStr"><is><t xml:space="preserve">`)
			b.escape(c.text)
			b.put(`</t></is></c>`)
		default:
			b.put(`"/>`)
		}
	}
	b.put(`</row>`)
}

// longestText is the maximum number of bytes of a text in a cell.
const longestText = 32_767

// escape writes a text. Spreadsheets read a part such as _x001F_ as one character, so escape
// writes _x005F before each such part.
func (b *workbook) escape(text string) {
	if len(text) > longestText {
		text = strings.ToValidUTF8(text[:longestText], "")
	}
	from := 0
	for i := range len(text) {
		if looksCoded(text[i:]) {
			b.text(text[from:i] + "_x005F")
			from = i
		}
	}
	b.text(text[from:])
}

func looksCoded(text string) bool {
	return len(text) >= 7 && text[0] == '_' && text[1] == 'x' && text[6] == '_' && strings.Trim(text[2:6], "0123456789abcdefABCDEF") == ""
}

func (b *workbook) text(text string) {
	if b.err == nil {
		b.err = xml.EscapeText(b.out, []byte(text))
	}
}

func (b *workbook) end() error {
	b.endSheet()
	if b.err == nil {
		b.err = b.out.Flush()
	}
	if b.err != nil {
		return b.err
	}
	return b.zip.Close()
}
