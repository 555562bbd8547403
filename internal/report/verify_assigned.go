package report

import (
	"context"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// assigned is a credit that operators have moved from the suspense account of the company "house" to another company, by their
// decision of a case. No job is left that brings it there.
type assigned struct {
	Case, Company, Provider, Session string
	Settlement                       int64
}

// assignedCredits finds the assigned credits that are in no ledger. Such a credit has left suspense, so it is in the ledger of
// the company that it was assigned to, or a job will bring it there. Each credit is looked up by its company, because a database
// that divides its tables by company does not join rows of two companies.
func assignedCredits(ctx context.Context, q db.Querier, company string) (found []Finding, err error) {
	if company != settlement.House {
		return nil, nil
	}
	list, err := db.All(ctx, q, db.Fields[assigned], `
		SELECT a.id, a.target_company, substr(a.subject, 1, strpos(a.subject || '/', '/') - 1), substr(a.subject, strpos(a.subject, '/') + 1),
			a.target_settlement
		FROM operation_case AS a
		WHERE a.company_id = $1 AND a.state = 'RESOLVED' AND a.outcome = 'assigned'
			AND NOT EXISTS (SELECT 1 FROM job AS j WHERE j.company_id = a.company_id AND j.kind = 'settlement.assign' AND j.subject = a.id)
		ORDER BY a.id`, company)
	for _, a := range list {
		if err != nil || len(found) == most {
			break
		}
		var n int64
		n, err = db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM settlement_credit
			WHERE company_id = $1 AND provider = $2 AND session_id = $3 AND settlement_id = $4`, a.Company, a.Provider, a.Session, a.Settlement)
		if err == nil && n == 0 {
			found = append(found, Finding{
				Company: company, Check: "assigned credit", ID: a.Case, Found: "neither",
				Expected: "the credit in the book of " + a.Company + ", or the job that brings it",
			})
		}
	}
	if err != nil {
		err = fmt.Errorf("report: assigned credit: %w", err)
	}
	return found, err
}
