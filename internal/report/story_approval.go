package report

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// approvalText says who asked for a payout and who approved it, from the details of the audit line
// company.PayoutApproved.
func approvalText(details string) (string, error) {
	var d struct{ By, AskedBy, AskedAt, From string }
	if err := json.Unmarshal([]byte(details), &d); err != nil {
		return "", fmt.Errorf("report: the details of an approval: %w", err)
	}
	name := func(by string) string { return strings.TrimPrefix(by, "person:") }
	return fmt.Sprintf("%s approved it. %s asked for it at %s. The company requires two people from %s naira on.", name(d.By), name(d.AskedBy), d.AskedAt, d.From), nil
}

// bulkSteps returns the requests and approvals that began the bulk payout to which a payout belongs. A payout that
// belongs to none has no such steps.
func bulkSteps(ctx context.Context, q db.Querier, companyID, reference string) ([]Step, error) {
	bulks, err := db.All(ctx, q, db.Value[string], `SELECT bulk_id FROM payout_bulk_line WHERE company_id = $1 AND reference = $2`, companyID, reference)
	if err != nil || len(bulks) == 0 {
		return nil, err
	}
	about := operation.Case{Company: companyID, ID: bulks[0], CreatedAt: time.Unix(0, 0)}
	steps, err := requestSteps(ctx, q, about, bulks[0])
	if err != nil {
		return nil, err
	}
	acts, err := auditSteps(ctx, q, about, bulks[0])
	return append(steps, acts...), err
}

// bulkLineOf returns the bulk payout to which a payout belongs, and the number of its line: in the company's file, if the lines
// come from a file.
func bulkLineOf(ctx context.Context, q db.Querier, companyID, reference string) (bulk string, line int64, err error) {
	type place struct {
		bulk string
		line int64
	}
	found, err := db.All(ctx, q, db.Fields[place], `SELECT bulk_id, CASE WHEN file_line > 0 THEN file_line ELSE line END
		FROM payout_bulk_line WHERE company_id = $1 AND reference = $2 LIMIT 1`, companyID, reference)
	if len(found) > 0 {
		bulk, line = found[0].bulk, found[0].line
	}
	return bulk, line, err
}
