package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/report"
)

type quotasRow struct {
	Day    string     `json:"day"` // in Lagos
	Quotas []quotaRow `json:"quotas"`
}

type quotaRow struct {
	Kind      quota.Kind `json:"kind"`
	Most      int64      `json:"most"`  // 0: no limit
	Since     *string    `json:"since"` // null: the usual one
	Used      int64      `json:"used"`
	Remaining *int64     `json:"remaining"` // null: no limit
}

func quotaOf(u quota.Use) quotaRow {
	row := quotaRow{Kind: u.Kind, Most: u.Most, Since: moment(u.Since), Used: u.Used}
	if u.Most > 0 {
		left := u.Left()
		row.Remaining = &left
	}
	return row
}

// findQuotas shows the company's quotas, and what is used of them today.
func (d *door) findQuotas(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	day, uses, err := d.Quotas.Uses(ctx, c.Reference)
	row := quotasRow{Day: day, Quotas: make([]quotaRow, len(uses))}
	for i, u := range uses {
		row.Quotas[i] = quotaOf(u)
	}
	return row, err
}

// setQuota gives the company another quota of one kind.
func (d *door) setQuota(ctx context.Context, r *request) (any, error) {
	kind, most := quota.Kind(r.form.text("kind")), r.form.whole("most")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	if err := d.Quotas.Set(ctx, r.by, r.PathValue("reference"), kind, most); err != nil {
		return nil, err
	}
	return d.findQuotas(ctx, r)
}

// quotaSetRow is a quota that was set once, and by whom.
type quotaSetRow struct {
	Kind  quota.Kind `json:"kind"`
	Most  int64      `json:"most"` // 0: no limit
	Since string     `json:"since"`
	By    string     `json:"by"`
}

// quotasHistory lists the quotas that were ever set, newest first.
func (d *door) quotasHistory(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	row := func(q report.QuotaSet) quotaSetRow {
		return quotaSetRow{q.Kind, q.Most, clock.Text(q.Since), q.By}
	}
	return listed(r, row, func(limit, offset int) ([]report.QuotaSet, int64, error) {
		return d.Reports.QuotasHistory(ctx, c.Reference, limit, offset)
	})
}
