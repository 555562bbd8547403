package api

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
)

// ListPayouts lists payouts, newest first.
func (h *handlers) ListPayouts(ctx context.Context, r ListPayoutsRequestObject) (ListPayoutsResponseObject, error) {
	var q query
	asked := callOf(ctx).request.URL
	filter := report.PayoutFilter{
		Status:       q.oneOf("status", r.Params.Status, "PENDING", "SUCCESS", "FAILED", "REVERSED"),
		SettlementID: q.id("settlementId", r.Params.SettlementID),
		From:         q.instant("from", r.Params.From, false),
		To:           q.instant("to", r.Params.To, true),
		Marks:        q.marks(payout.Kind, r.Params.ExternalReference, asked.Query()),
	}
	if err := q.fault(); err != nil {
		return nil, err
	}
	payouts, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]payout.Payout, int, error) {
		return h.Reports.Payouts(ctx, callOf(ctx).company, filter, offset, limit)
	}, func(cursor string, limit int) ([]payout.Payout, error) {
		return h.Reports.PayoutsAfter(ctx, callOf(ctx).company, filter, cursor, limit)
	})
	return ListPayouts200JSONResponse{Status: "success", Data: PayoutPage{
		Data: append([]payout.Payout{}, payouts...), Meta: meta,
	}}, err
}

// marks returns the marks of the labels that a query asks for: an externalReference, and members of
// metadata such as metadata[branch]. An empty reference does not filter.
func (q *query) marks(kind, reference string, asked url.Values) (marks []string) {
	if reference != "" {
		marks = append(marks, operation.Mark(kind, "", reference))
	}
	members := 0
	for name, values := range asked {
		key, isMember := strings.CutPrefix(name, "metadata[")
		if !isMember {
			continue
		}
		for _, value := range values {
			marks = append(marks, operation.Mark(kind, strings.TrimSuffix(key, "]"), value))
			members++
		}
	}
	if members > 20 {
		q.wrong("metadata", "must have less than or equal to 20 keys")
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}
