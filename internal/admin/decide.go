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
	CreatedAt    string     `json:"createdAt"`
	ApprovedAt   *string    `json:"approvedAt"`
}

func adjustmentOf(a settlement.Adjustment) adjustmentRow {
	return adjustmentRow{
		a.ID, a.Company, a.SettlementID, a.Amount, string(a.Direction), a.Reason, string(a.State),
		a.CreatedBy, present(a.ApprovedBy), clock.Text(a.CreatedAt), moment(a.ApprovedAt),
	}
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
	state, err := r.oneOf("status", "", string(settlement.Pending), string(settlement.Approved))
	if err != nil {
		return nil, err
	}
	return listed(r, adjustmentOf, func(limit, offset int) ([]settlement.Adjustment, int64, error) {
		return d.Settlements.Adjustments(ctx, settlement.AdjustmentState(state), limit, offset)
	})
}

func (d *door) approve(ctx context.Context, r *request) (any, error) {
	if err := r.form.done(); err != nil {
		return nil, err
	}
	a, err := d.Settlements.Approve(ctx, r.by, r.PathValue("id"))
	return adjustmentOf(a), err
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
