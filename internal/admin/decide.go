package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/wire"
)

// adjustmentOf returns an adjustment in the form of the response. The operator who decided is in
// approvedBy or rejectedBy.
func adjustmentOf(a settlement.Adjustment) Adjustment {
	row := Adjustment{
		ID: a.ID, Company: a.Company, SettlementID: a.SettlementID, Amount: a.Amount, Direction: string(a.Direction),
		Reason: a.Reason, Status: string(a.State), CreatedBy: a.CreatedBy, Note: wire.Optional(a.Note), CreatedAt: clock.Text(a.CreatedAt),
	}
	switch a.State {
	case settlement.Approved:
		row.ApprovedBy, row.ApprovedAt = wire.Optional(a.DecidedBy), clock.Optional(a.DecidedAt)
	case settlement.Rejected:
		row.RejectedBy, row.RejectedAt = wire.Optional(a.DecidedBy), clock.Optional(a.DecidedAt)
	}
	return row
}

func (e *edge) createAdjustment(ctx context.Context, r *request, body AdjustmentRequest) (any, error) {
	a, err := e.Settlements.Adjust(ctx, r.by, settlement.Adjustment{
		Company: r.PathValue("reference"), SettlementID: body.SettlementID, Amount: body.Amount,
		Direction: settlement.Direction(body.Direction), Reason: body.Reason,
	})
	return adjustmentOf(a), err
}

func (e *edge) listAdjustments(ctx context.Context, r *request) (any, error) {
	return continued(ctx, r, adjustmentOf, settlement.AdjustmentState(r.filter("status")), e.Settlements.Adjustments, e.Settlements.AdjustmentsAfter)
}

func (e *edge) findAdjustment(ctx context.Context, r *request) (any, error) {
	a, err := e.Settlements.Adjustment(ctx, r.PathValue("id"))
	return adjustmentOf(a), err
}

func (e *edge) approveAdjustment(ctx context.Context, r *request, _ NoRequest) (any, error) {
	a, err := e.Settlements.Approve(ctx, r.by, r.PathValue("id"))
	return adjustmentOf(a), err
}

// rejectAdjustment rejects an adjustment. An operator can also withdraw their own adjustment.
func (e *edge) rejectAdjustment(ctx context.Context, r *request, body NoteRequest) (any, error) {
	a, err := e.Settlements.Reject(ctx, r.by, r.PathValue("id"), body.Note)
	return adjustmentOf(a), err
}

func lineOf(l operator.Line) AuditLine {
	return AuditLine{l.ID, wire.Optional(l.Company), l.Operator, l.Action, l.Subject, l.Details, clock.Text(l.CreatedAt)}
}
