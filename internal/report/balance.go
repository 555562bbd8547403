package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// BalanceDays is the maximum number of days of DayBalances.
const BalanceDays = 92

// DayBalance is the balance of a settlement account at the end of a day in Lagos. For the present day it is the balance now.
type DayBalance struct {
	Day     time.Time // midnight in Lagos, at which the day begins
	Balance money.Kobo
}

// DayBalances returns the balances of a settlement account of the last days, the oldest first, ending with the present
// day. Days before the account was opened are left out. An unknown account is a fault of the kind Missing.
//
// The effort does not depend on the number of entries: a day costs a binary search by the primary key.
func (s *Service) DayBalances(ctx context.Context, company string, settlementID int64, days int) ([]DayBalance, error) {
	today := dayNumber(s.clock.Now())
	var out []DayBalance
	err := s.db.Snapshot(ctx, func(q db.Querier) error {
		opened, err := db.One(ctx, q, db.Value[int64], `SELECT created_at FROM settlement_account WHERE company_id = $1 AND id = $2`, company, settlementID)
		if errors.Is(err, db.ErrNone) {
			return fault.New(fault.Missing, "Settlement account not found")
		}
		if err != nil {
			return err
		}
		spans, err := wholeSpans(ctx, q, company, settlement.LedgerAccount(settlementID))
		if err != nil || len(spans) == 0 {
			return err
		}
		p, step := spans[0], int64(1)
		for day := today; day > today-int64(days) && day >= dayNumber(clock.Time(opened)); day-- {
			balance, err := balanceBefore(ctx, q, company, p.account, p.end)
			if err != nil {
				return err
			}
			out = append(out, DayBalance{dayBegin(day), balance})
			end, err := lateEntryAt(ctx, q, company, p, step, dayBegin(day))
			if err != nil {
				return err
			}
			p.end, step = end, max(p.end-end, 1)
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}

// lateEntryAt returns the number of the first entry of a span at or after an instant. It looks near the end of the span
// first: step is a guess of how many entries are later.
func lateEntryAt(ctx context.Context, q db.Querier, company string, p span, step int64, at time.Time) (int64, error) {
	for p.first < p.end {
		probe := max(p.end-step, p.first)
		t, err := entryTime(ctx, q, company, p.account, probe)
		if err != nil {
			return 0, err
		}
		if t.Before(at) {
			p.first = probe + 1
			break
		}
		p.end, step = probe, 2*step
	}
	return entryAt(ctx, q, company, p, at)
}
