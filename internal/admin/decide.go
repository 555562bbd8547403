package admin

import (
	"context"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// What a human decides: corrections of balances. And the log of all of it.

type adjustmentRow struct {
	ID           string     `json:"id"`
	Company      string     `json:"company"`
	SettlementID int64      `json:"settlementId"`
	Amount       money.Kobo `json:"amount"`
	Direction    string     `json:"direction"`
	Reason       string     `json:"reason"`
	Status       string     `json:"status"`
	CreatedBy    string     `json:"createdBy"`
	ApprovedBy   *string    `json:"approvedBy"`
	RejectedBy   *string    `json:"rejectedBy"`
	Note         *string    `json:"note"` // why it was rejected
	CreatedAt    string     `json:"createdAt"`
	ApprovedAt   *string    `json:"approvedAt"`
	RejectedAt   *string    `json:"rejectedAt"`
}

func adjustmentOf(a settlement.Adjustment) adjustmentRow {
	row := adjustmentRow{
		ID: a.ID, Company: a.Company, SettlementID: a.SettlementID, Amount: a.Amount, Direction: string(a.Direction),
		Reason: a.Reason, Status: string(a.State), CreatedBy: a.CreatedBy, Note: present(a.Note), CreatedAt: clock.Text(a.CreatedAt),
	}
	switch a.State {
	case settlement.Approved:
		row.ApprovedBy, row.ApprovedAt = present(a.DecidedBy), moment(a.DecidedAt)
	case settlement.Rejected:
		row.RejectedBy, row.RejectedAt = present(a.DecidedBy), moment(a.DecidedAt)
	}
	return row
}

func (d *door) adjust(ctx context.Context, r *request) (any, error) {
	a := settlement.Adjustment{
		Company:      r.PathValue("reference"),
		SettlementID: r.form.whole("settlementId"),
		Amount:       r.form.amount("amount"),
		Direction:    settlement.Direction(r.form.text("direction")),
		Reason:       r.form.text("reason"),
	}
	if err := r.form.done(); err != nil {
		return nil, err
	}
	a, err := d.Settlements.Adjust(ctx, r.by, a)
	return adjustmentOf(a), err
}

func (d *door) listAdjustments(ctx context.Context, r *request) (any, error) {
	state, err := r.oneOf("status", "", string(settlement.Pending), string(settlement.Approved), string(settlement.Rejected))
	if err != nil {
		return nil, err
	}
	return listed(r, adjustmentOf, func(limit, offset int) ([]settlement.Adjustment, int64, error) {
		return d.Settlements.Adjustments(ctx, settlement.AdjustmentState(state), limit, offset)
	})
}

func (d *door) findAdjustment(ctx context.Context, r *request) (any, error) {
	a, err := d.Settlements.Adjustment(ctx, r.PathValue("id"))
	return adjustmentOf(a), err
}

func (d *door) approve(ctx context.Context, r *request) (any, error) {
	if err := r.form.done(); err != nil {
		return nil, err
	}
	a, err := d.Settlements.Approve(ctx, r.by, r.PathValue("id"))
	return adjustmentOf(a), err
}

// reject turns an adjustment down, or takes it back when it is one's own.
func (d *door) reject(ctx context.Context, r *request) (any, error) {
	note := r.form.text("note")
	if err := r.form.done(); err != nil {
		return nil, err
	}
	a, err := d.Settlements.Reject(ctx, r.by, r.PathValue("id"), note)
	return adjustmentOf(a), err
}

// operatorRow is a person's key, of which nothing is shown. Keys are given out on
// the machine alone (kobo operator add): one who could make a second operator
// here would be two people.
type operatorRow struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	CreatedAt string `json:"createdAt"`
}

func (d *door) listOperators(ctx context.Context, _ *request) (any, error) {
	keys, err := d.Operators.Keys(ctx)
	rows := make([]operatorRow, len(keys))
	for i, k := range keys {
		rows[i] = operatorRow{k.ID, k.Name, k.State, clock.Text(k.CreatedAt)}
	}
	return rows, err
}

type lineRow struct {
	ID        string            `json:"id"`
	Company   *string           `json:"company"`
	Operator  string            `json:"operator"`
	Action    string            `json:"action"`
	Subject   string            `json:"subject"`
	Details   map[string]string `json:"details"`
	CreatedAt string            `json:"createdAt"`
}

func lineOf(l operator.Line) lineRow {
	return lineRow{l.ID, present(l.Company), l.Operator, l.Action, l.Subject, l.Details, clock.Text(l.CreatedAt)}
}

func (d *door) listAudit(ctx context.Context, r *request) (any, error) {
	return listed(r, lineOf, func(limit, offset int) ([]operator.Line, int64, error) {
		return d.Operators.Audit(ctx, r.URL.Query().Get("company"), limit, offset)
	})
}

// oneOf reads a filter of a list.
func (r *request) oneOf(name, usual string, allowed ...string) (string, error) {
	value := r.URL.Query().Get(name)
	if value == "" {
		return usual, nil
	}
	if !slices.Contains(allowed, value) {
		return "", fault.Newf(fault.Invalid, "%q must be one of [%s]", name, strings.Join(allowed, ", "))
	}
	return value, nil
}
