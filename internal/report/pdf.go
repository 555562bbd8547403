package report

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"
)

// pdf writes a PDF file from front to back. It compresses and sends each page when the page is
// full, and keeps only the positions of the objects in memory. So a file of any length needs only
// the memory for one page (docs/decisions/0011).
type pdf struct {
	out      *bufio.Writer
	written  int64
	places   []int64 // at index n-1, the byte at which object n begins
	pages    []int
	branches []int // the lowest nodes of the page tree, one for every fan pages
	squeezed bytes.Buffer
	squeezer *zlib.Writer
	err      error
}

const (
	// fan is the maximum number of children of a node in the page tree.
	fan = 64
	// longestPDF is the largest byte position that the ten digits of the PDF's cross-reference table
	// can hold.
	longestPDF = 9_999_999_999
	// The first objects have fixed numbers.
	catalogObject, infoObject, resourcesObject, totalObject, usualObject, boldObject = 1, 2, 3, 4, 5, 6
)

var errLongPDF = errors.New("report: the PDF is longer than 10 GB")

// newPDF begins a file. If logo is not nil, the pages may draw the logo as /Logo.
func newPDF(w io.Writer, logo *Logo) *pdf {
	p := &pdf{out: bufio.NewWriterSize(w, 1<<16), places: make([]int64, boldObject)}
	p.squeezer = zlib.NewWriter(&p.squeezed)
	// The second line has bytes that show other programs that the file is binary.
	p.put("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	// Each font is a separate object, since some PDF readers search for fonts.
	p.object(usualObject, usual.object())
	p.object(boldObject, bold.object())
	p.object(resourcesObject, fmt.Sprintf("<</Font<</%s %d 0 R/%s %d 0 R>>/XObject<</Total %d 0 R%s>>>>",
		usual.name, usualObject, bold.name, boldObject, totalObject, p.logo(logo)))
	return p
}

func (p *pdf) put(text string) {
	if p.err != nil {
		return
	}
	n, err := p.out.WriteString(text)
	p.written += int64(n)
	p.err = err
}

// reserve returns the number of an object that will be written later.
func (p *pdf) reserve() int {
	p.places = append(p.places, 0)
	return len(p.places)
}

func (p *pdf) object(number int, body string) {
	p.places[number-1] = p.written
	p.put(fmt.Sprintf("%d 0 obj\n%s\nendobj\n", number, body))
}

// stream writes an object that contains drawing operators, in compressed form.
func (p *pdf) stream(number int, entries string, content []byte) {
	p.squeezed.Reset()
	p.squeezer.Reset(&p.squeezed)
	_, err := p.squeezer.Write(content)
	if err = errors.Join(err, p.squeezer.Close()); err != nil && p.err == nil {
		p.err = err
	}
	p.object(number, fmt.Sprintf("<<%s/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", entries, p.squeezed.Len(), p.squeezed.Bytes()))
}

// page writes a page. The parent node of the page is written at the end of the file.
func (p *pdf) page(content []byte) {
	if len(p.pages)%fan == 0 {
		p.branches = append(p.branches, p.reserve())
	}
	drawn, number := p.reserve(), p.reserve()
	p.stream(drawn, "", content)
	p.object(number, fmt.Sprintf("<</Type/Page/Parent %d 0 R/Contents %d 0 R>>", p.branches[len(p.branches)-1], drawn))
	p.pages = append(p.pages, number)
}

// close writes the end of the file. The argument total has the drawing operators that every page
// uses as /Total.
func (p *pdf) close(title string, made time.Time, total []byte) error {
	p.stream(totalObject, fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 -3 100 10]/Resources %d 0 R", resourcesObject), total)
	p.object(infoObject, fmt.Sprintf("<</Title<%s>/Producer(Kobo)/CreationDate(D:%sZ)/ModDate(D:%[2]sZ)>>",
		utf16Hex(title), made.UTC().Format("20060102150405")))
	p.object(catalogObject, fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Lang(en-NG)/ViewerPreferences<</DisplayDocTitle true>>>>", p.tree()))
	start := p.written
	p.put(fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(p.places)+1))
	for _, place := range p.places {
		p.put(fmt.Sprintf("%010d 00000 n \n", place))
	}
	p.put(fmt.Sprintf("trailer\n<</Size %d/Root %d 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(p.places)+1, catalogObject, infoObject, start))
	if start > longestPDF {
		return errLongPDF
	}
	if p.err != nil {
		return p.err
	}
	return p.out.Flush()
}

// tree writes the nodes above the pages, level by level, and returns the number of the root.
func (p *pdf) tree() int {
	type node struct{ number, pages int }
	below := make([]node, len(p.pages))
	for i, number := range p.pages {
		below[i] = node{number, 1}
	}
	for level := p.branches; ; {
		var above []int // the parents of this level; the root has none
		for i := 0; i < len(level) && len(level) > 1; i += fan {
			above = append(above, p.reserve())
		}
		nodes := make([]node, len(level))
		for i, number := range level {
			var kids strings.Builder
			pages := 0
			for _, kid := range below[i*fan : min((i+1)*fan, len(below))] {
				fmt.Fprintf(&kids, "%d 0 R ", kid.number)
				pages += kid.pages
			}
			parent := fmt.Sprintf("/MediaBox[0 0 %s %s]/Resources %d 0 R", paperWidth, paperHeight, resourcesObject)
			if above != nil {
				parent = fmt.Sprintf("/Parent %d 0 R", above[i/fan])
			}
			p.object(number, fmt.Sprintf("<</Type/Pages%s/Count %d/Kids[%s]>>", parent, pages, strings.TrimSpace(kids.String())))
			nodes[i] = node{number, pages}
		}
		if above == nil {
			return level[0]
		}
		below, level = nodes, above
	}
}

// utf16Hex returns a text as UTF-16 in hexadecimal, the form in which a PDF stores any script.
func utf16Hex(text string) string {
	out := "FEFF"
	for _, unit := range utf16.Encode([]rune(text)) {
		out += fmt.Sprintf("%04X", unit)
	}
	return out
}
