package report

import (
	"context"
	"hash/maphash"
	"io"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// WritePages writes a PDF with this number of pages. Each page contains only its number.
func WritePages(w io.Writer, pages int) error {
	p := newPDF(w, nil)
	for n := range pages {
		var c canvas
		c.text(normal, margin, margin, write(strconv.Itoa(n+1)))
		p.page(c)
	}
	return p.close("Pages", time.Unix(0, 0), nil)
}

// WriteSheets writes the statement as XLSX, with this number of rows on each sheet.
func (s *Statement) WriteSheets(ctx context.Context, w io.Writer, rows int64) error {
	return s.xlsx(ctx, w, rows)
}

// EventsAgree is the fast check that compares operations with their events.
var EventsAgree = eventsAgree

// TransfersAgree runs the fast check that compares transfers with the rows that caused them.
func TransfersAgree(ctx context.Context, q db.Querier, company string) (bool, error) {
	moved := newDigest(maphash.MakeSeed())
	if _, err := integrity(ctx, q, company, time.Time{}, moved.addTransfer); err != nil {
		return false, err
	}
	return transfersAgree(ctx, q, company, moved)
}
