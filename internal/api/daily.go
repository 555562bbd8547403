package api

import (
	"context"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
)

// mostDays is the highest number of days in one response of the daily totals.
const mostDays = 400

// ListDailyTotals shows the totals of a settlement account for each day in Lagos.
func (h *handlers) ListDailyTotals(ctx context.Context, r ListDailyTotalsRequestObject) (ListDailyTotalsResponseObject, error) {
	var q query
	settlementID := q.id("settlementId", r.Params.SettlementID)
	from, to := q.day("from", r.Params.From), q.day("to", r.Params.To)
	if settlementID == 0 && q.problems == nil {
		q.wrong("settlementId", "is required")
	}
	if end := from.AddDate(0, 0, mostDays-1); q.problems == nil && to.Before(from) {
		q.wrong("to", "must not be before from")
	} else if q.problems == nil && to.After(end) {
		q.wrong("to", fmt.Sprintf("must be at most %d days after from", mostDays-1))
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	days, err := h.Reports.Days(ctx, callOf(ctx).company, settlementID, from, to.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	last := days[len(days)-1]
	return ListDailyTotals200JSONResponse{Status: "success", Data: DailyTotals{
		SettlementID: settlementID, From: from.Format(time.DateOnly), To: last.Began.In(clock.Lagos).Format(time.DateOnly),
		OpeningBalance: days[0].Opening, ClosingBalance: last.Closing, Days: each(days, dayTotals),
	}}, nil
}

func dayTotals(d report.Day) DayTotals {
	return DayTotals{
		Day: d.Began.In(clock.Lagos).Format(time.DateOnly), OpeningBalance: d.Opening, TotalCredits: d.Credits, TotalDebits: d.Debits,
		FeesPaid: d.Fees, ClosingBalance: d.Closing,
	}
}
