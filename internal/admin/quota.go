package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
)

func quotaOf(u quota.Use) Quota {
	row := Quota{Kind: string(u.Kind), Most: u.Most, Since: clock.Optional(u.Since), Used: u.Used}
	if u.Most > 0 {
		left := u.Left()
		row.Remaining = &left
	}
	return row
}

func (e *edge) findQuotas(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	day, uses, err := e.Quotas.Uses(ctx, c.Reference)
	return Quotas{day, rows(uses, quotaOf)}, err
}

func (e *edge) setQuota(ctx context.Context, r *request, body QuotaRequest) (any, error) {
	if err := e.Quotas.Set(ctx, r.by, r.PathValue("reference"), quota.Kind(body.Kind), body.Most); err != nil {
		return nil, err
	}
	return e.findQuotas(ctx, r)
}

func (e *edge) listQuotasHistory(ctx context.Context, r *request) (any, error) {
	row := func(q report.QuotaSet) QuotaSet { return QuotaSet{string(q.Kind), q.Most, clock.Text(q.Since), q.By} }
	return history(ctx, e, r, row, e.Reports.QuotasHistory)
}
