package report

import (
	"context"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Day has the totals of a settlement account for one day in Lagos.
type Day struct {
	Began            time.Time // midnight
	Opening, Closing money.Kobo
	Credits, Debits  money.Kobo // a debit includes its fee
	Fees             money.Kobo // the fees of the debits, less the fees that credits returned
}

// dayTotals are the sums of the entries of one day. The number counts the days in Lagos since 1970.
type dayTotals struct {
	number                int64
	credits, debits, fees money.Kobo
}

// Days returns the totals of each day from the day that begins at from, up to the day that ends at
// to. Both are midnights in Lagos. Days after today are left out. A period that begins in the future
// is refused.
func (s *Service) Days(ctx context.Context, company string, settlementID int64, from, to time.Time) ([]Day, error) {
	whole, err := s.period(ctx, company, settlementID, from, to)
	if err != nil {
		return nil, err
	}
	totals := map[int64]dayTotals{}
	if whole.Count > 0 {
		err = s.db.Heavy(ctx, company, func(q db.Querier) error {
			list, err := totalsByDay(ctx, q, company, whole.span)
			for _, t := range list {
				totals[t.number] = t
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var out []Day
	balance := whole.Opening
	for at := from; at.Before(to) && !at.After(whole.MadeAt); at = at.AddDate(0, 0, 1) {
		t := totals[dayNumber(at)]
		d := Day{Began: at, Opening: balance, Credits: t.credits, Debits: t.debits, Fees: t.fees, Closing: balance + t.credits - t.debits}
		balance = d.Closing
		out = append(out, d)
	}
	if balance != whole.Closing {
		return nil, fmt.Errorf("report: the days of %s do not add up", settlement.LedgerAccount(settlementID))
	}
	return out, nil
}

// dayNumber returns the number of the day in Lagos to which an instant belongs.
func dayNumber(at time.Time) int64 {
	_, offset := at.In(clock.Lagos).Zone()
	return (at.Unix() + int64(offset)) / (24 * 60 * 60)
}

// AccountsAt returns what Accounts returns, with the balances before an instant. Accounts that were
// opened later are left out. A zero instant means now.
func (s *Service) AccountsAt(ctx context.Context, company string, at time.Time) ([]settlement.Account, error) {
	all, err := s.Accounts(ctx, company)
	if err != nil || at.IsZero() {
		return all, err
	}
	spans, err := spansOf(ctx, s.db, company, EntryFilter{To: at})
	if err != nil {
		return nil, err
	}
	balances := map[string]money.Kobo{}
	for _, p := range spans {
		if balances[p.account], err = balanceBefore(ctx, s.db, company, p.account, p.end); err != nil {
			return nil, err
		}
	}
	var out []settlement.Account
	for _, a := range all {
		if a.CreatedAt.Before(at) {
			a.Balance = balances[settlement.LedgerAccount(a.ID)]
			out = append(out, a)
		}
	}
	return out, nil
}
