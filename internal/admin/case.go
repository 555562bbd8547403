package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/wire"
)

// caseOf returns a case in the form of the response. A resolved case has the decision of the
// operators, and an open case has the proposal of the first operator.
func caseOf(c operation.Case) Case {
	row := Case{
		ID: c.ID, Company: c.Company, Subject: c.Subject, Reason: string(c.Reason), Detail: c.Detail, Status: string(c.State),
		Amount: wire.Optional(c.Amount), ProposedBy: wire.Optional(c.ProposedBy), ResolvedBy: wire.Optional(c.ResolvedBy), CreatedAt: clock.Text(c.CreatedAt), UpdatedAt: clock.Text(c.UpdatedAt),
	}
	var target *Target
	if c.Target != "" {
		target = &Target{c.Target, c.TargetID}
	}
	switch {
	case c.State == operation.Resolved:
		row.Outcome, row.Note, row.Assigned = wire.Optional(c.Outcome), wire.Optional(c.Note), target
	case c.ProposedBy != "":
		row.Proposal = &Proposal{c.Outcome, c.Note, target, c.ProposedBy, clock.Text(c.ProposedAt)}
	}
	return row
}

// namedCase is a CaseLine of the contract.
type namedCase struct {
	Case
	CompanyName *string  `json:"companyName"`
	Payment     *Payment `json:"payment"`
}

func namedCaseOf(c report.CaseLine) namedCase {
	out := namedCase{Case: caseOf(c.Case), CompanyName: wire.Optional(c.CompanyName)}
	if c.Payment != nil {
		p := paymentOf(*c.Payment)
		out.Payment = &p
	}
	return out
}

func (e *edge) listCases(ctx context.Context, r *request) (any, error) {
	f := operation.CaseFilter{
		State: operation.CaseState(r.filter("status")), Reason: operation.Reason(r.filter("reason")),
		Company: r.filter("company"), Subject: r.filter("subject"), Proposed: r.filter("proposed") != "",
	}
	return continued(ctx, r, namedCaseOf, f, func(ctx context.Context, f operation.CaseFilter, limit, offset int) ([]report.CaseLine, int64, error) {
		cases, total, err := e.Operations.Cases(ctx, f, limit, offset)
		if err != nil {
			return nil, 0, err
		}
		lines, err := e.Reports.CaseLines(ctx, cases)
		return lines, total, err
	}, func(ctx context.Context, f operation.CaseFilter, cursor string, limit int) ([]report.CaseLine, error) {
		cases, err := e.Operations.CasesAfter(ctx, f, cursor, limit)
		if err != nil {
			return nil, err
		}
		return e.Reports.CaseLines(ctx, cases)
	})
}

func stepOf(s report.Step) Step { return Step{clock.Text(s.At), s.What, s.Text} }

func (e *edge) findCase(ctx context.Context, r *request) (any, error) {
	c, err := e.Operations.FindCase(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	steps, err := e.Reports.CaseTimeline(ctx, c)
	return struct {
		Case
		Timeline []Step `json:"timeline"`
	}{caseOf(c), rows(steps, stepOf)}, err
}

// resolveCase records how an operator wants to resolve a case. The finding of the first operator is
// a proposal. The same finding by a second operator resolves the case.
func (e *edge) resolveCase(ctx context.Context, r *request, body FindingRequest) (any, error) {
	f := operation.Finding{Outcome: body.Outcome, Target: body.Company, TargetID: body.SettlementID}
	c, err := e.Operations.ResolveCase(ctx, r.PathValue("id"), f, body.Note, r.by.Name, r.by.Note)
	return caseOf(c), err
}

func (e *edge) approveCase(ctx context.Context, r *request, body ApprovalRequest) (any, error) {
	f := operation.Finding{Outcome: body.Outcome, Target: body.Company, TargetID: body.SettlementID}
	c, err := e.Operations.ApproveCase(ctx, r.PathValue("id"), f, body.Note, r.by.Name, r.by.Note)
	return caseOf(c), err
}
