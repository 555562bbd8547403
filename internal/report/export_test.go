package report

import (
	"io"
	"strconv"
	"time"
)

// WritePages is a PDF of so many pages, each with nothing but its number.
func WritePages(w io.Writer, pages int) error {
	p := newPDF(w)
	for n := range pages {
		var c canvas
		c.text(normal, margin, margin, write(strconv.Itoa(n+1)))
		p.page(c)
	}
	return p.close("Pages", time.Unix(0, 0), nil)
}
