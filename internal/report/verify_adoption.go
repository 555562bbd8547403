package report

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
)

// ends selects all columns of the audit lines that may end the adoption of all companies
// (operator.Service.EndAdoption), in the order of their table.
const ends = `SELECT company_id, id, operator, action, subject, created_at, details, leaf, mac
	FROM operator_audit WHERE company_id = $1 AND action = $2 AND id >= $3 ORDER BY id`

// readAdoption reads whether a signed line has ended the adoption of all companies. Then no row of any
// company may be unsigned, also of a company that the other tables do not know.
func (e *evidence) readAdoption(ctx context.Context, q db.Querier) error {
	if e.signer == nil {
		return nil
	}
	t, last := e.tables["operator_audit"], ""
	return db.Pages(ctx, q, ends, len(t.Columns), func() []any { return []any{"", "evidence.adopt", last} }, func(row []string) error {
		last = row[1]
		if strings.Contains(row[6], `"companies":"all"`) && e.signer.Verify(db.Content(nil, t, row), row[len(row)-1]) {
			e.adopted = true
		}
		return nil
	})
}

// addStray reports transfers and events of no company. Kobo writes none.
func (e *evidence) addStray(ctx context.Context, q db.Querier) error {
	names, err := db.All(ctx, q, db.Value[string], `SELECT 'ledger_transfer ' || reference FROM ledger_transfer WHERE company_id = $1
		UNION ALL SELECT 'event ' || id FROM event WHERE company_id = $1`+upTo, e.company)
	for _, name := range names {
		e.wrong(name, "the company of the row", "none")
	}
	return err
}
