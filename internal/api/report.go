package api

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/report"
)

// ListOutcomes shows the operations that nobody knows the end of yet.
func (h *handlers) ListOutcomes(ctx context.Context, r ListOutcomesRequestObject) (ListOutcomesResponseObject, error) {
	p := contract.NewPage(r.Params.Page, r.Params.PageSize)
	outcomes, total, err := h.Reports.Outcomes(ctx, callOf(ctx).company, p.Offset(), p.Size)
	if err != nil {
		return nil, err
	}
	rows := make([]Outcome, 0, len(outcomes))
	for _, o := range outcomes {
		rows = append(rows, outcomeRow(o))
	}
	return ListOutcomes200JSONResponse{Status: "success", Data: OutcomePage{
		Data: rows, Meta: p.Meta(callOf(ctx).request.URL, len(rows), total),
	}}, nil
}

// FindOutcome shows what became of one operation.
func (h *handlers) FindOutcome(ctx context.Context, r FindOutcomeRequestObject) (FindOutcomeResponseObject, error) {
	o, err := h.Reports.Outcome(ctx, callOf(ctx).company, r.Reference)
	if err != nil {
		return nil, err
	}
	return FindOutcome200JSONResponse{Status: "success", Data: outcomeRow(o)}, nil
}

func outcomeRow(o report.Outcome) Outcome {
	return Outcome{
		Reference: o.Reference, Type: o.Type, Status: o.Status, Amount: o.Amount, Attempts: o.Attempts,
		LastAnswer: present(o.LastAnswer), LastAskedAt: moment(o.LastAskedAt), NextTryAt: moment(o.NextTryAt),
		NeedsDecision: o.NeedsDecision, CreatedAt: clock.Text(o.CreatedAt), UpdatedAt: clock.Text(o.UpdatedAt),
	}
}

// moment is an instant, or null for one that has not come.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return present(clock.Text(t))
}

// CheckIntegrity adds the company's book up again.
func (h *handlers) CheckIntegrity(ctx context.Context, _ CheckIntegrityRequestObject) (CheckIntegrityResponseObject, error) {
	found, err := h.Reports.Integrity(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	own := found.Own()
	rows := make([]AccountCheck, 0, len(own))
	for _, a := range own {
		rows = append(rows, AccountCheck{
			Account: a.Name, Entries: a.Entries, Balance: a.Balance, Recomputed: a.Recomputed, Intact: a.Balance == a.Recomputed,
		})
	}
	flight := found.InFlight
	return CheckIntegrity200JSONResponse{Status: "success", Data: Integrity{
		Intact: found.Intact(), VerifiedThrough: found.Sequence, VerifiedAt: clock.Text(found.At), Accounts: rows,
		InFlight: InFlightCheck{
			Clearing: flight.Clearing, OpenOperations: int64(flight.Operations), OpenAmount: flight.Amount, Intact: flight.Clearing == flight.Amount,
		},
	}}, nil
}
