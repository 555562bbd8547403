package report

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/quota"
)

// QuotaSet is a quota that an operator has set.
type QuotaSet struct {
	Kind  quota.Kind
	Most  int64
	Since time.Time
	By    string
}

// QuotasHistory returns a page of all quotas that a company has ever had, newest first, and the
// total count. It reads the operator from the audit log, in the line that has the quota's kind as
// its subject and was written at the same instant.
func (s *Service) QuotasHistory(ctx context.Context, company string, limit, offset int) ([]QuotaSet, int64, error) {
	return db.Page(ctx, s.db, company, db.Fields[QuotaSet], `SELECT count(*) FROM quota WHERE company_id = $1`,
		`SELECT l.kind, l.most, l.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = l.company_id AND a.action = 'company.quota'
				AND a.subject = l.kind AND a.created_at = l.created_at), '')
		FROM quota AS l WHERE l.company_id = $1
		ORDER BY l.version DESC LIMIT $2 OFFSET $3`, limit, offset, company)
}
