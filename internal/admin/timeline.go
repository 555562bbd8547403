package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// findTimeline shows what happened to the thing that has an id.
func (e *edge) findTimeline(ctx context.Context, r *request) (any, error) {
	y, err := e.Reports.Timeline(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return Timeline{
		Kind: y.Kind, Reference: y.Reference, Company: wire.Optional(y.Company), Status: y.State, Word: wire.Optional(y.Word), Doubt: wire.Optional(y.Doubt.String()),
		Amount: y.Amount, Fee: y.Fee, Counterparty: wire.Optional(y.Counterparty), Provider: wire.Optional(y.Provider),
		ProviderReference: wire.Optional(y.ProviderReference), SessionID: wire.Optional(y.SessionID), OwnReference: wire.Optional(y.OwnReference), Mate: wire.Optional(y.Mate), AssignedTo: wire.Optional(y.AssignedTo),
		BulkPayout: wire.Optional(y.Bulk), BulkLine: wire.Optional(y.BulkLine),
		Customer: wire.Optional(y.Customer), Same: rows(y.Same, samePayoutOf), MoreSame: y.MoreSame,
		Clock: clockOf(y.Clock), Cases: rows(y.Cases, caseOf), Steps: rows(y.Steps, timelineStepOf), CreatedAt: clock.Text(y.CreatedAt),
	}, nil
}

// askOutcome asks the provider for the outcome of a payment, and shows its timeline.
func (e *edge) askOutcome(ctx context.Context, r *request, _ NoRequest) (any, error) {
	y, err := e.Reports.Timeline(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if y.Clock == nil {
		return nil, fault.New(fault.Refused, "Nothing is to be asked: this is no payment with an unknown outcome")
	}
	if err := e.Operators.Record(ctx, r.by, "operation.asked", y.Reference, map[string]string{"company": y.Company}); err != nil {
		return nil, err
	}
	if _, err := e.Operations.Ask(ctx, y.Company, y.Reference); err != nil {
		return nil, err
	}
	return e.findTimeline(ctx, r)
}

func samePayoutOf(p report.SamePayout) SamePayout {
	return SamePayout{p.Reference, p.Word, wire.Optional(p.Doubt.String()), clock.Text(p.CreatedAt)}
}

func clockOf(c *report.OutcomeClock) *OutcomeClock {
	if c == nil {
		return nil
	}
	return &OutcomeClock{c.Attempts, clock.Optional(c.LastAskedAt), clock.Optional(c.NextAt), clock.Text(c.GraceEndsAt), clock.Text(c.CaseDueAt)}
}

func timelineStepOf(s report.Step) TimelineStep {
	out := TimelineStep{At: clock.Text(s.At), Lane: s.Lane(), What: s.What, Text: s.Text, Event: wire.Optional(s.Event), Delivery: wire.Optional(s.Delivery), NextAttemptAt: clock.Optional(s.NextAttemptAt)}
	if t := s.Transfer; t != nil {
		out.Transfer = &TimelineTransfer{t.Debit, t.Credit, t.Amount, t.DebitLeft, t.CreditThere}
	}
	return out
}
