package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// ListOutcomes shows the operations without a known outcome.
func (h *handlers) ListOutcomes(ctx context.Context, r ListOutcomesRequestObject) (ListOutcomesResponseObject, error) {
	var q query
	references := q.list("references", r.Params.References)
	if err := q.fault(); err != nil {
		return nil, err
	}
	p, c := contract.NewPage(r.Params.Page, r.Params.PageSize), callOf(ctx)
	list, total, err := h.Reports.Outcomes(ctx, c.company, references, p.Offset(), p.Size)
	return ListOutcomes200JSONResponse{Status: "success", Data: OutcomePage{Data: each(list, OutcomeOf), Meta: p.Meta(c.request.URL, len(list), total)}}, err
}

// FindOutcome shows the outcome of one operation.
func (h *handlers) FindOutcome(ctx context.Context, r FindOutcomeRequestObject) (FindOutcomeResponseObject, error) {
	c := callOf(ctx)
	o, err := h.Reports.Outcome(ctx, c.company, r.Reference)
	c.explain(operation.State(o.Status))
	return FindOutcome200JSONResponse{Status: "success", Data: OutcomeOf(o)}, err
}

// OutcomeOf returns an outcome as the API has it.
func OutcomeOf(o report.Outcome) Outcome {
	return Outcome{
		Reference: o.Reference, Type: o.Type, Status: o.Status, Amount: o.Amount, Attempts: o.Attempts,
		LastAnswer: wire.Optional(o.LastAnswer), LastAskedAt: clock.Optional(o.LastAskedAt), NextTryAt: clock.Optional(o.NextTryAt),
		GraceEndsAt: clock.Optional(o.GraceEndsAt), CaseDueAt: clock.Optional(o.CaseDueAt), NeedsDecision: o.NeedsDecision, Doubt: wire.Optional(o.Doubt.String()), CreatedAt: clock.Text(o.CreatedAt), UpdatedAt: clock.Text(o.UpdatedAt),
	}
}

// FindTimeline shows what happened to one payment.
func (h *handlers) FindTimeline(ctx context.Context, r FindTimelineRequestObject) (FindTimelineResponseObject, error) {
	y, err := h.Reports.OwnTimeline(ctx, callOf(ctx).company, r.Reference)
	return FindTimeline200JSONResponse{Status: "success", Data: Timeline{
		Reference: y.Reference, Kind: y.Kind, Status: y.State, Amount: y.Amount, Fee: y.Fee, CreatedAt: clock.Text(y.CreatedAt),
		BulkPayout: y.Bulk, BulkLine: y.BulkLine, Steps: each(y.Steps, timelineStep),
	}}, err
}

func timelineStep(s report.Step) TimelineStep {
	out := TimelineStep{At: clock.Text(s.At), What: s.What, Text: s.Text, Event: wire.Optional(s.Event), NextAttemptAt: clock.Optional(s.NextAttemptAt)}
	if t := s.Transfer; t != nil {
		out.Transfer = &TimelineTransfer{From: t.Debit, To: t.Credit, Amount: t.Amount}
		if t.Debit != report.Outside {
			out.Transfer.FromBalance = &t.DebitLeft
		}
		if t.Credit != report.Outside {
			out.Transfer.ToBalance = &t.CreditThere
		}
	}
	return out
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
