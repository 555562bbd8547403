package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
)

// What a company pays for payouts, and how much it may pay out in a day. What is
// set is kept: there is what is in force, and what was, with who set it.

type feesRow struct {
	Bands []bandRow `json:"bands"`
	Since *string   `json:"since"` // null: nobody ever set any
}

type bandRow struct {
	From    money.Kobo `json:"from"`
	Flat    money.Kobo `json:"flat"`
	Percent money.Kobo `json:"percent"` // basis points are the hundredths of a percent, as kobo are of a naira
	Cap     money.Kobo `json:"cap"`     // 0: none
}

func (d *door) findFees(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	schedule, since, err := d.Payouts.FeesSince(ctx, c.Reference)
	return feesRow{bandsOf(schedule), moment(since)}, err
}

func bandsOf(s payout.Schedule) []bandRow {
	rows := make([]bandRow, len(s))
	for i, b := range s {
		rows[i] = bandRow{b.From, b.Flat, money.Kobo(b.BasisPoints), b.Cap}
	}
	return rows
}

// feesSetRow is a schedule that was given once, and by whom.
type feesSetRow struct {
	Bands []bandRow `json:"bands"`
	Since string    `json:"since"`
	By    string    `json:"by"`
}

// feesHistory lists the schedules that a company was ever given, newest first.
func (d *door) feesHistory(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	row := func(f report.FeesSet) feesSetRow { return feesSetRow{bandsOf(f.Schedule), clock.Text(f.At), f.By} }
	return listed(r, row, func(limit, offset int) ([]report.FeesSet, int64, error) {
		return d.Reports.FeesHistory(ctx, c.Reference, limit, offset)
	})
}

// setFees gives the whole schedule anew; no bands is no fees.
func (d *door) setFees(ctx context.Context, r *request) (any, error) {
	var schedule payout.Schedule
	r.form.each("bands", func(item *form) {
		schedule = append(schedule, payout.Band{
			From: item.amount("from"), Flat: item.some("flat"), BasisPoints: int64(item.some("percent")), Cap: item.some("cap"),
		})
	})
	if err := r.form.done(); err != nil {
		return nil, err
	}
	if err := d.Payouts.SetFees(ctx, r.by, r.PathValue("reference"), schedule); err != nil {
		return nil, err
	}
	return d.findFees(ctx, r)
}

type limitsRow struct {
	Day    string     `json:"day"` // in Lagos
	Limits []limitRow `json:"limits"`
}

type limitRow struct {
	SettlementID *int64     `json:"settlementId"` // null: the whole company
	Amount       money.Kobo `json:"amount"`       // 0: no limit
	Payouts      int64      `json:"payouts"`      // 0: no limit
	Since        *string    `json:"since"`
	Used         usedRow    `json:"used"`
	Remaining    leftRow    `json:"remaining"`
}

type usedRow struct {
	Amount  money.Kobo `json:"amount"`
	Payouts int64      `json:"payouts"`
}

// leftRow has null where there is no limit.
type leftRow struct {
	Amount  *money.Kobo `json:"amount"`
	Payouts *int64      `json:"payouts"`
}

func limitOf(u payout.Use) limitRow {
	row := limitRow{
		Amount: u.Amount, Payouts: u.Payouts, Since: moment(u.Since), Used: usedRow{u.Used, u.UsedPayouts},
	}
	amount, payouts := u.Left()
	if u.SettlementID != 0 {
		row.SettlementID = &u.SettlementID
	}
	if u.Amount != 0 {
		row.Remaining.Amount = &amount
	}
	if u.Payouts != 0 {
		row.Remaining.Payouts = &payouts
	}
	return row
}

func (d *door) findLimits(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	day, uses, err := d.Payouts.Uses(ctx, c.Reference)
	row := limitsRow{Day: day, Limits: make([]limitRow, len(uses))}
	for i, u := range uses {
		row.Limits[i] = limitOf(u)
	}
	return row, err
}

// limitSetRow is a limit that was set once, and by whom.
type limitSetRow struct {
	SettlementID *int64     `json:"settlementId"` // null: the whole company
	Amount       money.Kobo `json:"amount"`       // 0: no limit
	Payouts      int64      `json:"payouts"`      // 0: no limit
	Since        string     `json:"since"`
	By           string     `json:"by"`
}

// limitsHistory lists the limits that were ever set, newest first.
func (d *door) limitsHistory(ctx context.Context, r *request) (any, error) {
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	row := func(l report.LimitSet) limitSetRow {
		row := limitSetRow{Amount: l.Amount, Payouts: l.Payouts, Since: clock.Text(l.Since), By: l.By}
		if l.SettlementID != 0 {
			row.SettlementID = &l.SettlementID
		}
		return row
	}
	return listed(r, row, func(limit, offset int) ([]report.LimitSet, int64, error) {
		return d.Reports.LimitsHistory(ctx, c.Reference, limit, offset)
	})
}

// setLimit limits the company, or the settlement account that is named.
func (d *door) setLimit(ctx context.Context, r *request) (any, error) {
	settlementID := r.form.account("settlementId")
	limit := payout.Limit{Amount: r.form.amount("amount"), Payouts: r.form.whole("payouts")}
	if err := r.form.done(); err != nil {
		return nil, err
	}
	c, err := d.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return nil, err
	}
	if err := d.Payouts.SetLimit(ctx, r.by, c.Reference, settlementID, limit); err != nil {
		return nil, err
	}
	return d.findLimits(ctx, r)
}
