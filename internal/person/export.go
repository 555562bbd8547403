package person

import (
	"context"

	"github.com/kobo-waas/kobo/internal/operator"
)

// exporting is the action of the audit line about a file that a person of a company takes.
const exporting = "person.export"

// Exported records that a person of a company takes a file with some filters. Without the line, nothing is sent. The line belongs to no
// company, and names it, so it never waits for the lock of the company.
func (s *Service) Exported(ctx context.Context, p Person, file, query string) error {
	return s.Operators.Exported(ctx, p.Author().From(ctx), operator.Export{Action: exporting, Subject: p.subject(), File: file, Query: query, Details: p.details()})
}

// Exports returns the lines about the newest files that people of a company have taken.
func (s *Service) Exports(ctx context.Context, company string, most int) ([]operator.Line, error) {
	return s.Operators.AuditAfter(ctx, operator.AuditFilter{Company: company, Action: exporting}, "", most)
}
