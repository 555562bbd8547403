package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/report"
)

// The case desk: what only a human can decide, and what two of them decided.

type caseRow struct {
	ID         string       `json:"id"`
	Company    string       `json:"company"`
	Subject    string       `json:"subject"`
	Reason     string       `json:"reason"`
	Detail     string       `json:"detail"`
	Amount     *money.Kobo  `json:"amount"` // null if that is not what it is about
	Status     string       `json:"status"`
	Outcome    *string      `json:"outcome"` // null while open
	Note       *string      `json:"note"`
	Assigned   *targetRow   `json:"assigned"`
	Proposal   *proposalRow `json:"proposal"` // null once resolved
	ProposedBy *string      `json:"proposedBy"`
	ResolvedBy *string      `json:"resolvedBy"`
	CreatedAt  string       `json:"createdAt"`
	UpdatedAt  string       `json:"updatedAt"`
}

// targetRow is whose money it is said to be.
type targetRow struct {
	Company      string `json:"company"`
	SettlementID int64  `json:"settlementId"`
}

// proposalRow is what one operator has said, and a second has not yet.
type proposalRow struct {
	Outcome  string     `json:"outcome"`
	Note     string     `json:"note"`
	Assigned *targetRow `json:"assigned"`
	By       string     `json:"by"`
	At       string     `json:"at"`
}

func caseOf(c operation.Case) caseRow {
	row := caseRow{
		ID: c.ID, Company: c.Company, Subject: c.Subject, Reason: string(c.Reason), Detail: c.Detail, Status: string(c.State),
		ProposedBy: present(c.ProposedBy), ResolvedBy: present(c.ResolvedBy), CreatedAt: clock.Text(c.CreatedAt), UpdatedAt: clock.Text(c.UpdatedAt),
	}
	if c.Amount != 0 {
		row.Amount = &c.Amount
	}
	var target *targetRow
	if c.Target != "" {
		target = &targetRow{c.Target, c.TargetID}
	}
	switch {
	case c.State == operation.Resolved:
		row.Outcome, row.Note, row.Assigned = present(c.Outcome), present(c.Note), target
	case c.ProposedBy != "":
		row.Proposal = &proposalRow{c.Outcome, c.Note, target, c.ProposedBy, clock.Text(c.ProposedAt)}
	}
	return row
}

func (d *door) listCases(ctx context.Context, r *request) (any, error) {
	state, err := r.oneOf("status", string(operation.Open), string(operation.Open), string(operation.Resolved))
	if err != nil {
		return nil, err
	}
	var reasons []string
	for _, reason := range operation.Reasons() {
		reasons = append(reasons, string(reason))
	}
	reason, err := r.oneOf("reason", "", reasons...)
	if err != nil {
		return nil, err
	}
	f := operation.CaseFilter{
		State: operation.CaseState(state), Reason: operation.Reason(reason),
		Company: r.URL.Query().Get("company"), Subject: r.URL.Query().Get("subject"),
	}
	return listed(r, caseOf, func(limit, offset int) ([]operation.Case, int64, error) {
		return d.Operations.Cases(ctx, f, limit, offset)
	})
}

type stepRow struct {
	At   string `json:"at"`
	What string `json:"what"`
	Text string `json:"text"`
}

func stepOf(s report.Step) stepRow { return stepRow{clock.Text(s.At), s.What, s.Text} }

// findCase shows a case with everything that is known around it.
func (d *door) findCase(ctx context.Context, r *request) (any, error) {
	c, err := d.Operations.FindCase(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	steps, err := d.Reports.Timeline(ctx, c)
	if err != nil {
		return nil, err
	}
	rows := make([]stepRow, len(steps))
	for i, s := range steps {
		rows[i] = stepOf(s)
	}
	return struct {
		caseRow
		Timeline []stepRow `json:"timeline"`
	}{caseOf(c), rows}, nil
}

// resolveCase takes a finding: the first operator's is a proposal, and the second
// one's, if it is the same, settles the case.
func (d *door) resolveCase(ctx context.Context, r *request) (any, error) {
	f, note := r.form.finding(), r.form.text("note")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, err := d.Operations.ResolveCase(ctx, r.PathValue("id"), f, note, r.by.Name, r.by.Note)
	return caseOf(c), err
}

// approveCase is the second operator agreeing with what they have seen proposed.
func (d *door) approveCase(ctx context.Context, r *request) (any, error) {
	f := r.form.finding()
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, err := d.Operations.ApproveCase(ctx, r.PathValue("id"), f, r.by.Name, r.by.Note)
	return caseOf(c), err
}

func (f *form) finding() operation.Finding {
	out := operation.Finding{Outcome: f.text("outcome")}
	if out.Outcome == operation.Assigned {
		out.Target, out.TargetID = f.text("company"), f.whole("settlementId")
	}
	return out
}
