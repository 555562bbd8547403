package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// ListOutcomes shows the operations without a known outcome.
func (h *handlers) ListOutcomes(ctx context.Context, r ListOutcomesRequestObject) (ListOutcomesResponseObject, error) {
	rows, meta, err := paged(ctx, r.Params.Page, r.Params.PageSize, outcomeRow, func(offset, limit int) ([]report.Outcome, int, error) {
		return h.Reports.Outcomes(ctx, callOf(ctx).company, offset, limit)
	})
	return ListOutcomes200JSONResponse{Status: "success", Data: OutcomePage{Data: rows, Meta: meta}}, err
}

// FindOutcome shows the outcome of one operation.
func (h *handlers) FindOutcome(ctx context.Context, r FindOutcomeRequestObject) (FindOutcomeResponseObject, error) {
	c := callOf(ctx)
	o, err := h.Reports.Outcome(ctx, c.company, r.Reference)
	c.explain(operation.State(o.Status))
	return FindOutcome200JSONResponse{Status: "success", Data: outcomeRow(o)}, err
}

func outcomeRow(o report.Outcome) Outcome {
	return Outcome{
		Reference: o.Reference, Type: o.Type, Status: o.Status, Amount: o.Amount, Attempts: o.Attempts,
		LastAnswer: wire.Optional(o.LastAnswer), LastAskedAt: clock.Optional(o.LastAskedAt), NextTryAt: clock.Optional(o.NextTryAt),
		NeedsDecision: o.NeedsDecision, CreatedAt: clock.Text(o.CreatedAt), UpdatedAt: clock.Text(o.UpdatedAt),
	}
}

// CheckIntegrity compares the balances of the company's ledger with the sums of the entries.
func (h *handlers) CheckIntegrity(ctx context.Context, _ CheckIntegrityRequestObject) (CheckIntegrityResponseObject, error) {
	found, err := h.Reports.Integrity(ctx, callOf(ctx).company)
	if err != nil {
		return nil, err
	}
	rows := each(found.Own(), func(a report.AccountCheck) AccountCheck {
		return AccountCheck{
			Account: a.Name, Entries: a.Entries, Balance: a.Balance, Recomputed: a.Recomputed, Intact: a.Balance == a.Recomputed,
		}
	})
	flight := found.InFlight
	return CheckIntegrity200JSONResponse{Status: "success", Data: Integrity{
		Intact: found.Intact(), VerifiedThrough: found.Sequence, VerifiedAt: clock.Text(found.At),
		VerifiedUpTo: found.VerifiedUpTo, FullWalkAt: clock.Optional(found.FullWalkAt), Accounts: rows,
		InFlight: InFlightCheck{
			Clearing: flight.Clearing, OpenOperations: int64(flight.Operations), OpenAmount: flight.Amount, Intact: flight.Clearing == flight.Amount,
		},
	}}, nil
}
