package operator

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// ErrUnrecorded is the fault for a row that says who proposed something, if no signed line of the audit log
// says the same. Somebody may have written the row into the database.
var ErrUnrecorded = fault.New(fault.Refused, "No signed line of the audit log records this proposal: find out who wrote it, and propose again")

// SignedLine returns the line of the audit log about an act at an instant, if the program has signed it.
// Otherwise it returns ErrUnrecorded. The company is "" for a line of no company.
func (s *Service) SignedLine(ctx context.Context, company, action, subject string, at time.Time) (Line, error) {
	rows, err := s.linesAt(ctx, company, action, subject, at)
	for _, row := range rows {
		values := audit.Record(row).Values
		if signer := s.db.Signer(); signer != nil && signer.Verify(db.Content(nil, audit.Table, values), row.MAC) {
			return row.line()
		}
	}
	if err == nil {
		err = ErrUnrecorded
	}
	return Line{}, err
}

// actsOf is the name of the counter of a company's audited acts, of operators and of the company itself.
const actsOf = "operator/acts"

// Acts returns the number of the acts about a company that changed something.
func Acts(ctx context.Context, book *ledger.Book, company string) (int64, error) {
	return book.Last(ctx, company, actsOf)
}

// After returns the operator for an act that was weighed when the company had this number of acts. The
// ledger refuses the commit of the act if there are more by then (IsOvertaken).
func (o Operator) After(acts int64) Operator {
	o.weighed = &acts
	return o
}

// IsOvertaken reports whether err is the ledger's refusal of an act because of After.
func IsOvertaken(err error) bool {
	r := ledger.Refused(err)
	return r != nil && r.Reason == ledger.Over && r.Count.Name == actsOf
}
