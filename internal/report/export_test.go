package report

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
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

// FlowsAtMost lets a call of DayFlows add up this number of entries.
func (s *Service) FlowsAtMost(entries int64) { s.flows.most = entries }

// EventsAgree is the fast check that compares operations with their events.
func EventsAgree(ctx context.Context, q db.Querier, company string) (bool, error) {
	return eventsAgree(ctx, q, company, func([]string) {})
}

// TransfersAgree runs the fast check that compares transfers with the rows that caused them.
func TransfersAgree(ctx context.Context, q db.Querier, company string) (bool, error) {
	moved := newDigest(maphash.MakeSeed())
	if _, err := integrity(ctx, q, company, time.Time{}, func(t ledger.Transfer, _ []string) { moved.addTransfer(t) }); err != nil {
		return false, err
	}
	return transfersAgree(ctx, q, company, moved)
}

// InParts makes Integrity read only new rows, even if the ledger is small. A check that takes longer
// than the limit is refused.
func (s *Service) InParts(limit time.Duration) { s.small, s.limit = 0, limit }

// Large makes Integrity read only new rows of a ledger with more entries than this.
func (s *Service) Large(entries int64) { s.small = entries }

// Stride sets the number of purchases between two milestones.
func (s *Service) Stride(n int64) { s.stride = n }

// Milestones returns how many milestones of a company are known.
func (s *Service) Milestones(company string) int { return len(s.milestones.kept[company]) }

// WalkRows continues the walk through a company's ledger by a number of rows. It reports whether the
// walk has ended, and returns its findings.
func (s *Service) WalkRows(ctx context.Context, company string, rows int) (done bool, wrongs []string, err error) {
	wrongs, err = s.step(ctx, company, func() bool { rows--; return rows >= 0 })
	return rows >= 0, wrongs, err
}

// HourBefore returns the id at which a check of new credits begins.
var HourBefore = hourBefore

// HoursPage is the number of events that one transaction counts.
const HoursPage = hoursPage

// PaymentRows is the number of rows on a page of payments or deposits.
const PaymentRows = paymentRows

// ErrOvertaken is the error of a program that writes counts which another program has written.
var ErrOvertaken = errOvertaken

// ReadEvents reads the next events of a company, and returns the function that counts them.
func (s *Service) ReadEvents(ctx context.Context, t testing.TB, company string) func() error {
	t.Helper()
	list, err := uncounted(ctx, s.db, "", walkMost)
	if err != nil || len(list) != 1 || list[0].company != company {
		t.Fatal(list, err)
	}
	c, err := s.readPage(ctx, list[0])
	if err != nil {
		t.Fatal(err)
	}
	return func() error { return s.db.Tx(ctx, func(q db.Querier) error { return c.write(ctx, q) }) }
}

// LookAt sets the number of rows of each kind that a page of payments looks at.
func (s *Service) LookAt(rows int64) { s.depth = rows }

// LedgerPlace is an account whose entries are not all in the sums of revenue.
type LedgerPlace = ledgerPlace

// RevenueWaits returns the accounts whose entries are not all in the sums of revenue.
func RevenueWaits(ctx context.Context, q db.Querier) ([]LedgerPlace, error) {
	return revenueWaits(ctx, q, "", "", walkMost)
}

// AddStale adds the entries above a place as a program does that has read the place earlier. It returns
// false if another program has added them.
func AddStale(ctx context.Context, s *Service, p LedgerPlace) (bool, error) {
	lines, err := revenueOf(ctx, s.db, p, p.last)
	if err == nil {
		err = s.db.Tx(ctx, func(q db.Querier) error { return writeRevenue(ctx, q, p, p.last, lines) })
	}
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// MostRows sets how many rows a sheet has room for.
func (s *Sheet) MostRows(rows int64) { s.most = rows }
