package report

import (
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
)

// points is a length in hundredths of a point. An inch has 72 points.
type points int

func (p points) String() string { return string(appendPoints(nil, p)) }

func appendPoints(out []byte, p points) []byte {
	if p < 0 {
		out, p = append(out, '-'), -p
	}
	out = strconv.AppendInt(out, int64(p/100), 10)
	if p %= 100; p != 0 {
		out = append(out, '.', byte('0'+p/10), byte('0'+p%10))
	}
	return out
}

// These are the width and the height of a page, which is an upright A4 page.
const (
	paperWidth  points = 595_28
	paperHeight points = 841_89
)

// colour is a colour as three PDF numbers from 0 to 1, for red, green and blue.
type colour string

const (
	navy  colour = "0.086 0.196 0.310"
	ink   colour = "0.129 0.145 0.161"
	grey  colour = "0.400 0.435 0.470"
	pale  colour = "0.953 0.965 0.980"
	line  colour = "0.816 0.843 0.871"
	white colour = "1 1 1"
	sky   colour = "0.725 0.808 0.890"
	green colour = "0.078 0.424 0.263"
)

// style is the font, the size and the colour of a text.
type style struct {
	font   *font
	size   points
	colour colour
}

// canvas is the content of a page as PDF operators. Positions are measured from the top left
// corner. The y of a text is its base line.
type canvas []byte

// place appends a position in the form of PDF, which measures from the bottom left corner.
func (c *canvas) place(x, y points) {
	*c = append(appendPoints(*c, x), ' ')
	*c = append(appendPoints(*c, paperHeight-y), ' ')
}

func (c *canvas) box(fill colour, x, y, w, h points) {
	*c = append(*c, fill+" rg "...)
	c.place(x, y+h)
	*c = append(appendPoints(*c, w), ' ')
	*c = append(appendPoints(*c, h), " re f\n"...)
}

func (c *canvas) text(s style, x, y points, w writing) {
	if len(w.codes) == 0 {
		return
	}
	*c = append(*c, "BT /"+s.font.name+" "...)
	*c = append(appendPoints(*c, s.size), " Tf "+string(s.colour)+" rg "...)
	c.place(x, y)
	*c = append(s.font.show(append(*c, "Td "...), w, s.size), "ET\n"...)
}

func (s style) width(w writing) points { return points(s.font.wide(w.codes)) * s.size / 1000 }

// lines breaks a text into lines of this width. It returns at most as many lines as most.
func (s style) lines(text string, width points, most int) []writing {
	return s.font.fit(write(text), int(width*1000/s.size), most)
}

// left draws a text in one line that begins at x. It cuts a text that is too long.
func (c *canvas) left(s style, x, y, width points, text string) {
	for _, w := range s.lines(text, width, 1) {
		c.text(s, x, y, w)
	}
}

// right draws a text in one line that ends at x. It cuts a text that is too long.
func (c *canvas) right(s style, x, y, width points, text string) {
	for _, w := range s.lines(text, width, 1) {
		c.text(s, x-s.width(w), y, w)
	}
}

// amount draws an amount that ends at x. If an amount is too wide, it is drawn in a smaller size.
func (c *canvas) amount(s style, x, y, width points, k money.Kobo) {
	w := write(grouped(k))
	if wide := s.width(w); wide > width {
		s.size = s.size * width / wide
	}
	c.text(s, x-s.width(w), y, w)
}

func (c *canvas) picture(name string, x, y, w, h points) {
	*c = append(appendPoints(append(*c, "q "...), w), " 0 0 "...)
	*c = append(appendPoints(*c, h), ' ')
	c.place(x, y+h)
	*c = append(*c, "cm /"+name+" Do Q\n"...)
}

// draws places a PDF form on the page. A PDF form is a reusable drawing, such as the total number
// of pages.
func (c *canvas) draws(name string, x, y points) {
	*c = append(*c, "q 1 0 0 1 "...)
	c.place(x, y)
	*c = append(*c, "cm /"+name+" Do Q\n"...)
}
