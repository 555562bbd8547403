package operator

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
)

// Record appends a line to the audit log about an act that changes no row, such as a change of a
// file on this machine. Details must contain no secret.
func (s *Service) Record(ctx context.Context, by Operator, action, subject string, details map[string]string) error {
	return s.db.Tx(ctx, func(q db.Querier) error {
		return insertLine(ctx, q, by.Note("", action, subject, details, s.clock.Now()))
	})
}
