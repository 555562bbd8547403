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
	var out []DayBalance
	err := s.db.Snapshot(ctx, func(q db.Querier) error {
		out = nil // a snapshot may begin again
		all, err := s.lastDays(ctx, q, company, settlementID, days)
		if err != nil {
			return err
		}
		for _, d := range all {
			balance, err := balanceBefore(ctx, q, company, d.account, d.end)
			if err != nil {
				return err
			}
			out = append(out, DayBalance{dayBegin(d.day), balance})
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}

// daySpan is the span of an account's entries of one day in Lagos.
type daySpan struct {
	day int64
	span
}

// lastDays returns the spans of the last days of a settlement account, the newest first. Days before the account was opened are
// left out. An unknown account is a fault of the kind Missing.
func (s *Service) lastDays(ctx context.Context, q db.Querier, company string, settlementID int64, days int) ([]daySpan, error) {
	today := dayNumber(s.clock.Now())
	opened, err := db.One(ctx, q, db.Value[int64], `SELECT created_at FROM settlement_account WHERE company_id = $1 AND id = $2`, company, settlementID)
	if errors.Is(err, db.ErrNone) {
		return nil, fault.New(fault.Missing, "Settlement account not found")
	}
	if err != nil {
		return nil, err
	}
	spans, err := wholeSpans(ctx, q, company, settlement.LedgerAccount(settlementID))
	if err != nil || len(spans) == 0 {
		return nil, err
	}
	var out []daySpan
	p, step := spans[0], int64(1)
	for day := today; day > today-int64(days) && day >= dayNumber(clock.Time(opened)); day-- {
		first, err := lateEntryAt(ctx, q, company, p, step, dayBegin(day))
		if err != nil {
			return nil, err
		}
		out = append(out, daySpan{day, span{p.account, first, p.end}})
		p.end, step = first, max(p.end-first, 1)
	}
	return out, nil
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
