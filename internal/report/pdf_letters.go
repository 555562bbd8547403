package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// font is a standard font, which every PDF reader has.
type font struct {
	name, base string
	widths     *[256 - ' ']int
}

var (
	usual = &font{"U", "Helvetica", &usualWidths}
	bold  = &font{"B", "Helvetica-Bold", &boldWidths}
)

func (f *font) object() string {
	return "<</Type/Font/Subtype/Type1/BaseFont/" + f.base + "/Encoding/WinAnsiEncoding>>"
}

func (f *font) width(code byte) int { return f.widths[code-' '] }

// writing is a text in the characters of the standard fonts, with one byte for each character.
type writing struct {
	codes []byte
	odd   []odd // in the order of their places
}

// odd is a letter that the fonts lack. The page shows the most similar letter, with marks above and
// below that letter. If a user searches or copies text, the PDF reader uses the letter itself.
type odd struct {
	at    int
	marks []mark
	means string
}

// mark is a glyph that is drawn at the middle of a letter. The field rise is its upward shift,
// in thousandths of the font size.
type mark struct {
	code byte
	rise int
}

// tall is the additional height of a mark above a capital or a tall letter.
const tall = 195

// marks are the marks that Nigeria's languages put above and below letters.
var marks = map[rune]mark{
	'\u0300': {'`', 0}, '\u0301': {0xB4, 0}, '\u0302': {0x88, 0}, '\u0303': {0x98, 0}, '\u0304': {0xAF, 0},
	'\u0307': {'.', 600}, '\u0308': {0xA8, 0}, '\u0323': {'.', -215}, '\u0329': {'.', -215}, '\u0331': {0xAF, -810},
}

// nearest has the most similar letter for letters that do not consist of a letter and a mark.
var nearest = map[rune]byte{
	'ɓ': 'b', 'Ɓ': 'B', 'ɗ': 'd', 'Ɗ': 'D', 'ƙ': 'k', 'Ƙ': 'K', 'ƴ': 'y', 'Ƴ': 'Y', 'ǝ': 'e', 'Ǝ': 'E', 'ŋ': 'n', 'Ŋ': 'N',
}

// write converts a text to the characters of the fonts. The page shows letters of other scripts as
// question marks, but a text that is copied from the file has the letters themselves.
func write(text string) writing {
	var w writing
	if plainText(text) {
		w.codes = []byte(text)
		return w
	}
	for _, r := range norm.NFC.String(text) {
		code, known := charmap.Windows1252.EncodeRune(r)
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			w.codes = append(w.codes, ' ')
		case unicode.Is(unicode.Cf, r):
			// Format characters, such as those for the direction of text, draw nothing.
		case known:
			w.codes = append(w.codes, code)
		case unicode.Is(unicode.M, r):
			w.mark(r)
		case r == '₦':
			w.letter('N', r)
			w.odd[len(w.odd)-1].marks = []mark{{'=', 110}}
		default:
			w.strange(r)
		}
	}
	return w
}

func plainText(text string) bool {
	for _, b := range []byte(text) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// letter appends a letter that the page shows as the character code.
func (w *writing) letter(code byte, means rune) {
	w.odd = append(w.odd, odd{at: len(w.codes), means: string(means)})
	w.codes = append(w.codes, code)
}

// strange appends a letter that the fonts lack. It adds those of the letter's marks that the fonts
// have.
func (w *writing) strange(r rune) {
	parts := []rune(norm.NFD.String(string(r)))
	code, known := charmap.Windows1252.EncodeRune(parts[0])
	if !known {
		if code = nearest[r]; code == 0 {
			code = '?'
		}
	}
	w.letter(code, r)
	for _, part := range parts[1:] {
		w.draw(part)
	}
}

func (w *writing) mark(r rune) {
	last := len(w.codes) - 1
	if last < 0 {
		return
	}
	if n := len(w.odd); n == 0 || w.odd[n-1].at != last {
		w.odd = append(w.odd, odd{at: last, means: string(charmap.Windows1252.DecodeByte(w.codes[last]))})
	}
	w.odd[len(w.odd)-1].means += string(r)
	w.draw(r)
}

func (w *writing) draw(r rune) {
	m, known := marks[r]
	if !known {
		return
	}
	o := &w.odd[len(w.odd)-1]
	if m.rise >= 0 && strings.IndexByte("bdfhklt", w.codes[o.at]) >= 0 || unicode.IsUpper(charmap.Windows1252.DecodeByte(w.codes[o.at])) && m.rise >= 0 {
		m.rise += tall
	}
	o.marks = append(o.marks, m)
}

func (w writing) part(from, to int) writing {
	out := writing{codes: w.codes[from:to:to]}
	for _, o := range w.odd {
		if o.at >= from && o.at < to {
			o.at -= from
			out.odd = append(out.odd, o)
		}
	}
	return out
}

// wide returns the width of these characters in thousandths of the font size.
func (f *font) wide(codes []byte) int {
	sum := 0
	for _, c := range codes {
		sum += f.width(c)
	}
	return sum
}

const dots = 0x85 // the code of …

// fit breaks a writing into lines of this width, between words if possible. If there are more than
// the maximum number of lines, fit replaces the rest with dots.
func (f *font) fit(w writing, width, lines int) []writing {
	var out []writing
	for len(w.codes) > 0 && len(out) < lines {
		end := f.reach(w.codes, width)
		if end == len(w.codes) {
			return append(out, w)
		}
		if len(out)+1 == lines {
			end = f.reach(w.codes, width-f.width(dots))
			last := w.part(0, end)
			last.codes = append(last.codes, dots)
			return append(out, last)
		}
		next := end
		if space := bytes.LastIndexByte(w.codes[:end+1], ' '); space > 0 {
			end, next = space, space+1
		}
		out = append(out, w.part(0, end))
		w = w.part(next, len(w.codes))
	}
	return out
}

// reach returns how many of the first characters fit into a width.
func (f *font) reach(codes []byte, width int) int {
	for i, c := range codes {
		if width -= f.width(c); width < 0 {
			return i
		}
	}
	return len(codes)
}

// show appends the operators that draw a writing at the current place.
func (f *font) show(out []byte, w writing, size points) []byte {
	from := 0
	for _, o := range w.odd {
		out = appendString(out, w.codes[from:o.at])
		for _, m := range o.marks {
			// The pen moves to the middle of the next letter, draws the mark and moves back. Text that a
			// user copies from the file does not contain the mark.
			back := (f.width(w.codes[o.at]) + f.width(m.code)) / 2
			out = append(out, fmt.Sprintf("/Span<</ActualText()>>BDC %s Ts[%d", size*points(m.rise)/1000, f.width(m.code)-back)...)
			out = append(escape(append(out, '('), []byte{m.code}), fmt.Sprintf(")%d]TJ 0 Ts EMC ", back)...)
		}
		out = append(out, "/Span<</ActualText<"+utf16Hex(o.means)+">>>BDC "...)
		out = append(appendString(out, w.codes[o.at:o.at+1]), "EMC "...)
		from = o.at + 1
	}
	return appendString(out, w.codes[from:])
}

func appendString(out, codes []byte) []byte {
	if len(codes) == 0 {
		return out
	}
	return append(escape(append(out, '('), codes), ")Tj "...)
}

// escape appends characters, with a backslash before those that have a meaning in a PDF string.
func escape(out, codes []byte) []byte {
	for _, c := range codes {
		if c == '(' || c == ')' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}
