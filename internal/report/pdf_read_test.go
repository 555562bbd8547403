package report_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// paper is a PDF that the test reads through its cross-reference table, without the code that wrote
// the PDF.
type paper struct {
	t       testing.TB
	file    []byte
	objects map[string]string // by reference, such as "7 0 R"
	info    string
	pages   [][]word
}

// patterns caches compiled patterns. The map needs no lock, because the tests read one PDF at a
// time.
var patterns = map[string]*regexp.Regexp{}

var (
	spanPattern   = regexp.MustCompile(`^/Span<</ActualText(?:\(\)|<FEFF([0-9A-F]+)>)>>BDC .*? EMC`)
	escapePattern = regexp.MustCompile(`\\(.)`)
)

// word is a text and its place, measured from the bottom left corner.
type word struct {
	x, y float64
	text string
}

func readPaper(t testing.TB, file []byte) paper {
	t.Helper()
	p := paper{t: t, file: file, objects: map[string]string{}}
	tail := p.find(string(file[max(0, len(file)-200):]), `trailer\n<</Size (\d+)/Root (\d+ 0 R)/Info (\d+ 0 R)>>\nstartxref\n(\d+)\n%%EOF\n$`)
	start, err := strconv.Atoi(tail[4])
	must(t, err)
	size, err := strconv.Atoi(tail[1])
	must(t, err)
	index := strings.Split(string(file[start:]), "\n")
	if index[0] != "xref" || index[1] != fmt.Sprintf("0 %d", size) || index[2] != "0000000000 65535 f " {
		t.Fatalf("the index begins %q", index[:3])
	}
	for n := 1; n < size; n++ {
		if len(index[n+2]) != 19 {
			t.Fatalf("%q is not a line of an index", index[n+2])
		}
		at, err := strconv.Atoi(index[n+2][:10])
		must(t, err)
		body, found := bytes.CutPrefix(file[at:start], fmt.Appendf(nil, "%d 0 obj\n", n))
		end := bytes.Index(body, []byte("\nendobj\n"))
		if !found || end < 0 {
			t.Fatalf("object %d is not at %d", n, at)
		}
		p.objects[fmt.Sprintf("%d 0 R", n)] = string(body[:end])
	}
	p.info = p.objects[tail[3]]
	root := p.find(p.objects[tail[2]], `/Pages (\d+ 0 R)`)[1]
	if n := p.walk(root, ""); n != len(p.pages) {
		t.Fatalf("%d pages, and the tree holds %d", len(p.pages), n)
	}
	return p
}

func (p *paper) find(text, pattern string) []string {
	p.t.Helper()
	if patterns[pattern] == nil {
		patterns[pattern] = regexp.MustCompile(pattern)
	}
	found := patterns[pattern].FindStringSubmatch(text)
	if found == nil {
		p.t.Fatalf("%.300q is not %s", text, pattern)
	}
	return found
}

// walk reads the pages below a node, and returns the number of these pages.
func (p *paper) walk(number, parent string) int {
	p.t.Helper()
	node := p.objects[number]
	if parent != "" && !strings.Contains(node, "/Parent "+parent) {
		p.t.Fatalf("%s is not the parent of %.200q", parent, node)
	}
	if strings.Contains(node, "/Type/Page/") {
		p.pages = append(p.pages, p.words(p.objects[p.find(node, `/Contents (\d+ 0 R)`)[1]]))
		return 1
	}
	kids := strings.Split(strings.ReplaceAll(p.find(node, `/Kids\[([^\]]+)\]`)[1], " R ", " R,"), ",")
	if len(kids) > 64 {
		p.t.Fatalf("%d children", len(kids))
	}
	pages := 0
	for _, kid := range kids {
		pages += p.walk(kid, number)
	}
	if want := p.find(node, `/Count (\d+)`)[1]; want != strconv.Itoa(pages) {
		p.t.Fatalf("%s pages, and %d are below", want, pages)
	}
	return pages
}

func (p *paper) content(object string) string {
	p.t.Helper()
	head, stream, _ := strings.Cut(object, "stream\n")
	stream = strings.TrimSuffix(stream, "\nendstream")
	if want := p.find(head, `/Length (\d+)`)[1]; want != strconv.Itoa(len(stream)) {
		p.t.Fatalf("%d bytes of %s", len(stream), want)
	}
	r, err := zlib.NewReader(strings.NewReader(stream))
	must(p.t, err)
	out, err := io.ReadAll(r)
	must(p.t, err)
	return string(out)
}

func (p *paper) words(object string) (out []word) {
	p.t.Helper()
	for _, line := range strings.Split(p.content(object), "\n") {
		if !strings.HasPrefix(line, "BT ") {
			continue
		}
		at := p.find(line, `^BT /[UB] \S+ Tf \S+ \S+ \S+ rg (\S+) (\S+) Td (.*)ET$`)
		x, err := strconv.ParseFloat(at[1], 64)
		must(p.t, err)
		y, err := strconv.ParseFloat(at[2], 64)
		must(p.t, err)
		out = append(out, word{x, y, p.text(at[3])})
	}
	return out
}

// text returns the text that a user would copy from a PDF reader.
func (p *paper) text(drawn string) string {
	p.t.Helper()
	var out strings.Builder
	for drawn = strings.TrimSpace(drawn); drawn != ""; drawn = strings.TrimSpace(drawn) {
		if span := spanPattern.FindStringSubmatch(drawn); span != nil {
			units, err := hex.DecodeString(span[1])
			must(p.t, err)
			for i := 0; i < len(units); i += 2 {
				out.WriteString(string(utf16.Decode([]uint16{uint16(units[i])<<8 | uint16(units[i+1])})))
			}
			drawn = drawn[len(span[0]):]
			continue
		}
		literal := p.find(drawn, `^\(((?:\\.|[^\\()])*)\)Tj`)
		plain := escapePattern.ReplaceAllString(literal[1], "$1")
		text, err := charmap.Windows1252.NewDecoder().String(plain)
		must(p.t, err)
		out.WriteString(text)
		drawn = drawn[len(literal[0]):]
	}
	return out.String()
}
