package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// findFees shows the company's fee schedule. The field since is null if
// no operator has set a schedule.
func (e *edge) findFees(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	schedule, since, err := e.Payouts.FeesSince(ctx, c.Reference)
	return Fees{rows(schedule, bandOf), clock.Optional(since)}, err
}

// listFees shows the fee schedules in force of all companies, the newest company first.
func (e *edge) listFees(ctx context.Context, r *request) (any, error) {
	terms := map[string]payout.Terms{}
	read := func(ctx context.Context, list []company.Company, err error) ([]company.Company, error) {
		if err == nil {
			terms, err = e.Payouts.FeesOf(ctx, rows(list, func(c company.Company) string { return c.Reference }))
		}
		return list, err
	}
	return continued(ctx, r, func(c company.Company) CompanyFees {
		t := terms[c.Reference]
		return CompanyFees{c.Reference, c.Name, rows(t.Schedule, bandOf), clock.Optional(t.Since)}
	}, struct{}{}, func(ctx context.Context, _ struct{}, limit, offset int) ([]company.Company, int64, error) {
		list, total, err := e.Companies.List(ctx, company.Filter{}, limit, offset)
		list, err = read(ctx, list, err)
		return list, total, err
	}, func(ctx context.Context, _ struct{}, cursor string, limit int) ([]company.Company, error) {
		list, err := e.Companies.After(ctx, company.Filter{}, cursor, limit)
		return read(ctx, list, err)
	})
}

// bandOf shows basis points as a percentage. A basis point is a hundredth of a percent, as a kobo
// is a hundredth of a naira. So the type for amounts also formats the percentage.
func bandOf(b payout.Band) Band {
	return Band{b.From, b.Flat, money.Kobo(b.BasisPoints), b.Cap}
}

func (e *edge) listFeesHistory(ctx context.Context, r *request) (any, error) {
	row := func(f report.FeesSet) FeesSet { return FeesSet{rows(f.Schedule, bandOf), clock.Text(f.At), f.By} }
	return history(ctx, e, r, row, e.Reports.FeesHistory)
}

// setFees replaces the whole fee schedule. A schedule without bands means that there are no fees.
func (e *edge) setFees(ctx context.Context, r *request, body FeesRequest) (any, error) {
	if err := e.Payouts.SetFees(ctx, r.by, r.PathValue("reference"), scheduleOf(body)); err != nil {
		return nil, err
	}
	return e.findFees(ctx, r)
}

// limitOf shows a limit and how much of it is used. If remaining is null, there is no limit.
func limitOf(u payout.Use) Limit {
	row := Limit{
		SettlementID: wire.Optional(u.SettlementID), Amount: u.Amount, Payouts: u.Payouts, Since: clock.Optional(u.Since), Used: Used{u.Used, u.UsedPayouts},
	}
	amount, payouts := u.Left()
	if u.Amount != 0 {
		row.Remaining.Amount = &amount
	}
	if u.Payouts != 0 {
		row.Remaining.Payouts = &payouts
	}
	return row
}

func (e *edge) findLimits(ctx context.Context, r *request) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	day, uses, err := e.Payouts.Uses(ctx, c.Reference)
	return Limits{day, rows(uses, limitOf)}, err
}

func (e *edge) listLimitsHistory(ctx context.Context, r *request) (any, error) {
	row := func(l report.LimitSet) LimitSet {
		return LimitSet{wire.Optional(l.SettlementID), l.Amount, l.Payouts, clock.Text(l.Since), l.By}
	}
	return history(ctx, e, r, row, e.Reports.LimitsHistory)
}

// setLimit sets the limit of the company, or of the settlement account that the body names.
func (e *edge) setLimit(ctx context.Context, r *request, body LimitRequest) (any, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	limit := payout.Limit{Amount: body.Amount, Payouts: body.Payouts}
	if err := e.Payouts.SetLimit(ctx, r.by, c.Reference, body.SettlementID, limit); err != nil {
		return nil, err
	}
	return e.findLimits(ctx, r)
}
