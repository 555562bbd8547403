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

// QuotasHistory is a page of all quotas that a company has ever had, newest first, and
// their number.
func (s *Service) QuotasHistory(ctx context.Context, company string, limit, offset int) ([]QuotaSet, int64, error) {
	total, err := quotasCount(ctx, s.db, company)
	if err != nil {
		return nil, 0, err
	}
	list, err := quotasSet(ctx, s.db, company, limit, offset)
	return list, total, err
}

func quotasCount(ctx context.Context, q db.Querier, company string) (int64, error) {
	return db.One(ctx, q, db.Value[int64], `SELECT count(*) FROM quota WHERE company_id = $1`, company)
}

// quotasSet is a page of quotas. The line of the audit log has the kind as its subject
// and the instant of the quota.
func quotasSet(ctx context.Context, q db.Querier, company string, limit, offset int) ([]QuotaSet, error) {
	return db.All(ctx, q, db.Fields[QuotaSet], `SELECT l.kind, l.most, l.created_at, coalesce((
			SELECT max(a.operator) FROM operator_audit AS a
			WHERE a.company_id = l.company_id AND a.action = 'company.quota'
				AND a.subject = l.kind AND a.created_at = l.created_at), '')
		FROM quota AS l WHERE l.company_id = $1
		ORDER BY l.version DESC LIMIT $2 OFFSET $3`, company, limit, offset)
}
