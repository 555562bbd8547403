package operator

import (
	"context"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// These are the actions of the lines that end the adoption of a company's old rows. A company that has a
// signed line with such an action, or that was created by a program that signs, has no unsigned rows.
const (
	adopted       = "evidence.adopt"
	adoptedRights = "rights.adopt"
)

// rightsSigned is in the details of the line about a new company whose rows of rights are all signed
// (ledger.Book.Founding).
const rightsSigned = `"rights":"signed"`

// Adopt signs the rows of a company that programs of earlier schemas wrote: first the rows of evidence
// (ledger.Book.Adopt), and then the rows of rights. After each part it writes an audit line. The company
// may be "". Adopt returns the number of signed rows. It signs no row if the company was adopted before,
// or was created by a program that signs. After EndAdoption it signs no row of evidence. So nobody can get a later row signed.
func (s *Service) Adopt(ctx context.Context, book *ledger.Book, by Operator, company string, signed func(rows int)) (n int, err error) {
	history, rights, err := s.isAdopted(ctx, company)
	if err != nil {
		return 0, err
	}
	count := func(rows int) { n += rows; signed(rows) }
	if !history {
		if err := book.Adopt(ctx, company, count); err != nil {
			return n, err
		}
		if err := s.endAdoption(ctx, book, by, company, adopted, n); err != nil {
			return n, err
		}
	}
	if rights {
		return n, nil
	}
	before := n
	if company == "" {
		var keys int
		keys, err = s.adoptKeys(ctx)
		count(keys)
	} else {
		err = book.AdoptRights(ctx, company, count)
	}
	if err != nil {
		return n, err
	}
	return n, s.endAdoption(ctx, book, by, company, adoptedRights, n-before)
}

// endAdoption writes the line that ends an adoption.
func (s *Service) endAdoption(ctx context.Context, book *ledger.Book, by Operator, company, action string, rows int) error {
	line := by.Note(company, action, company, map[string]string{"rows": strconv.Itoa(rows)}, s.clock.Now())
	if company == "" {
		return s.db.Tx(ctx, func(q db.Querier) error { return s.insertLine(ctx, q, line) })
	}
	u := ledger.For(company)
	u.Append(line)
	return book.Commit(ctx, u)
}

// isAdopted reports whether signed lines of the audit log show that the company has no unsigned rows of
// evidence, and none of rights.
func (s *Service) isAdopted(ctx context.Context, company string) (history, rights bool, err error) {
	lines, err := adoptions(ctx, s.db, company)
	for _, line := range lines {
		if !s.isSignedRecord(line) {
			continue
		}
		isRights := line.Value("action") == adoptedRights
		history = history || !isRights
		rights = rights || isRights || strings.Contains(line.Value("details").(string), rightsSigned)
	}
	if err != nil || history || company == "" {
		return history, rights, err
	}
	history, err = s.isWhole(ctx)
	return history, rights, err
}
