package operator

import (
	"context"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// adopted is the action of the line that ends the adoption of a company's old rows. A company that
// has a signed line with this action, or whose first line is signed, has no unsigned rows.
const adopted = "evidence.adopt"

// Adopt numbers and signs the rows of evidence of a company that programs of earlier schemas wrote
// (ledger.Book.Adopt), and then writes an audit line. The company may be "". Adopt returns the number
// of signed rows. It does nothing if the company was adopted before, or was created by a program that
// signs, or after EndAdoption. So nobody can get a later row signed.
func (s *Service) Adopt(ctx context.Context, book *ledger.Book, by Operator, company string, signed func(rows int)) (n int, err error) {
	done, err := s.isAdopted(ctx, company)
	if err != nil || done {
		return 0, err
	}
	err = book.Adopt(ctx, company, func(rows int) { n += rows; signed(rows) })
	if err != nil {
		return n, err
	}
	line := by.Note(company, adopted, company, map[string]string{"rows": strconv.Itoa(n)}, s.clock.Now())
	if company == "" {
		return n, s.db.Tx(ctx, func(q db.Querier) error { return s.insertLine(ctx, q, line) })
	}
	u := ledger.For(company)
	u.Append(line)
	return n, book.Commit(ctx, u)
}

// isAdopted reports whether a signed line of the audit log shows that the company has no unsigned rows.
func (s *Service) isAdopted(ctx context.Context, company string) (bool, error) {
	lines, err := adoptions(ctx, s.db, company)
	for _, line := range lines {
		if s.db.Signer().Verify(db.Content(nil, audit.Table, line.Values), line.Values[len(line.Values)-1].(string)) {
			return true, err
		}
	}
	if err != nil || company == "" {
		return false, err
	}
	return s.isWhole(ctx)
}
