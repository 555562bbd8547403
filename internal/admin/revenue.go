package admin

import (
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/text"
	"github.com/kobo-waas/kobo/internal/wire"
)

// revenueDays is the number of days of a period whose beginning a request does not name.
const revenueDays = 30

// revenuePeriod returns the period that a request asks for, from midnight to midnight in Lagos. A period that the
// reports refuse is refused here, before the first byte of a file.
func (e *edge) revenuePeriod(r *request) (from, to time.Time, err error) {
	if from, to, err = e.wholeDays(r, revenueDays); err == nil {
		err = report.CheckRevenuePeriod(from, to)
	}
	return from, to, err
}

// wholeDays returns the period that a request asks for by its first and its last day, from midnight to midnight in
// Lagos. Without a last day it ends with today, and without a first day it has the usual number of days.
func (e *edge) wholeDays(r *request, usual int) (from, to time.Time, err error) {
	dated := func(name string) (time.Time, error) {
		value := r.filter(name)
		if value == "" {
			return time.Time{}, nil
		}
		t, err := time.ParseInLocation(time.DateOnly, value, clock.Lagos)
		if err != nil {
			return t, fault.Newf(fault.Invalid, "%q must be a day such as 2026-11-21", name)
		}
		return t, nil
	}
	if from, err = dated("from"); err != nil {
		return from, to, err
	}
	if to, err = dated("to"); err != nil {
		return from, to, err
	}
	if to.IsZero() {
		now := e.Clock.Now().In(clock.Lagos)
		to = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, clock.Lagos)
	}
	if from.IsZero() {
		from = to.AddDate(0, 0, 1-usual)
	}
	return from, to.AddDate(0, 0, 1), nil
}

// revenueCompany returns the company that a request asks for, which must exist, or "" for all.
func (e *edge) revenueCompany(ctx context.Context, r *request) (string, error) {
	company := r.filter("company")
	if company == "" || company == settlement.House {
		return company, nil
	}
	_, err := e.Companies.Find(ctx, company)
	return company, err
}

func (e *edge) findRevenue(ctx context.Context, r *request) (any, error) {
	from, to, err := e.revenuePeriod(r)
	if err != nil {
		return nil, err
	}
	company, err := e.revenueCompany(ctx, r)
	if err != nil {
		return nil, err
	}
	all, err := e.Reports.Revenue(ctx, company, from, to)
	return Revenue{
		From: from.Format(time.DateOnly), To: to.AddDate(0, 0, -1).Format(time.DateOnly), Company: wire.Optional(company),
		ReadAt: clock.Optional(all.ReadAt), Total: earnedOf(all.Total), Lines: rows(all.Lines, revenueLineOf),
	}, err
}

func earnedOf(e report.Earned) Earned {
	return Earned{Fees: e.Fees, FeeCount: e.FeeCount, Cost: e.Cost, CostCount: e.CostCount, Margin: e.Margin()}
}

func revenueLineOf(l report.RevenueLine) RevenueLine {
	return RevenueLine{
		Day: l.Day.Format(time.DateOnly), Kind: wire.Optional(l.Kind), Provider: wire.Optional(l.Provider),
		Fees: l.Fees, FeeCount: l.FeeCount, Cost: l.Cost, CostCount: l.CostCount, Margin: l.Margin(),
	}
}

func (e *edge) listRevenue(ctx context.Context, r *request) (any, error) {
	from, to, err := e.revenuePeriod(r)
	if err != nil {
		return nil, err
	}
	page, next, err := e.Reports.RevenueByCompany(ctx, from, to, r.filter("after"))
	return RevenueByCompany{Next: wire.Optional(next), Companies: rows(page, func(c report.CompanyRevenue) CompanyRevenue {
		return CompanyRevenue{
			Company: c.Company, CompanyName: wire.Optional(c.Name), Fees: c.Fees, FeeCount: c.FeeCount, Cost: c.Cost, CostCount: c.CostCount, Margin: c.Margin(),
		}
	})}, err
}

// exportRevenue returns the sums of a period as CSV, by company, day, kind and provider.
func (e *edge) exportRevenue(ctx context.Context, r *request) (any, error) {
	from, to, err := e.revenuePeriod(r)
	if err != nil {
		return nil, err
	}
	company, err := e.revenueCompany(ctx, r)
	if err != nil {
		return nil, err
	}
	name := "revenue-" + from.Format(time.DateOnly) + "-" + to.AddDate(0, 0, -1).Format(time.DateOnly) + ".csv"
	return file{name, "text/csv; charset=utf-8", func(w io.Writer) error {
		out := csv.NewWriter(w)
		// The writer stores its first error, and Error returns that error.
		_ = out.Write([]string{"Day (Lagos)", "Company", "Name", "Kind", "Provider", "Fees", "Number of fees", "Cost", "Number of charges", "Margin"})
		err := e.Reports.EachRevenue(ctx, company, from, to, func(c report.CompanyRevenue, l report.RevenueLine) error {
			return out.Write([]string{
				l.Day.Format(time.DateOnly), text.Cell(c.Company), text.Cell(c.Name), cmp.Or(l.Kind, "none"), text.Cell(l.Provider),
				l.Fees.Decimal(), strconv.FormatInt(l.FeeCount, 10), l.Cost.Decimal(), strconv.FormatInt(l.CostCount, 10), l.Margin().Decimal(),
			})
		})
		out.Flush()
		if err == nil {
			err = out.Error()
		}
		return err
	}}, nil
}
