package payout

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Limit is how much may be paid out on one day, which begins at midnight in
// Lagos. 0 is no limit.
type Limit struct {
	Amount  money.Kobo // without fees
	Payouts int64
	Since   time.Time // zero for a limit that was never set
}

// SetLimit limits a company (settlementID 0) or one of its settlement accounts
// from now on. What was paid out today already counts.
func (s *Service) SetLimit(ctx context.Context, by operator.Operator, company string, settlementID int64, l Limit) error {
	if l.Amount < 0 || l.Payouts < 0 {
		return fault.New(fault.Invalid, "A limit must not be negative")
	}
	if l.Amount > money.Max {
		return fault.New(fault.Invalid, "A limit "+money.ErrRange.Error())
	}
	if settlementID != 0 {
		if _, err := s.settlements.Find(ctx, company, settlementID); err != nil {
			return err
		}
	}
	now := s.clock.Now()
	return explain(s.book.Commit(ctx, ledger.Unit{Company: company, Notes: []db.Record{
		l.record(company, settlementID, id.New(), now),
		by.Note(company, "payout.limit", strconv.FormatInt(settlementID, 10), map[string]string{
			"amount": l.Amount.Decimal(), "payouts": strconv.FormatInt(l.Payouts, 10),
		}, now),
	}}))
}

// Limit is the limit in force, of a company (settlementID 0) or of a settlement
// account.
func (s *Service) Limit(ctx context.Context, company string, settlementID int64) (Limit, error) {
	return db.OrZero(s.findLimit(ctx, company, settlementID))
}

func (s *Service) limits(ctx context.Context, company string, settlementID int64) (whole, own Limit, err error) {
	if whole, err = s.Limit(ctx, company, 0); err != nil {
		return whole, own, err
	}
	own, err = s.Limit(ctx, company, settlementID)
	return whole, own, err
}

// Use is a limit with what of it is used up today.
type Use struct {
	SettlementID int64 // 0 for the whole company
	Limit
	Used        money.Kobo // without fees, and without what was refunded
	UsedPayouts int64
}

// Left is what may still be paid out today, as far as this limit goes. Where
// there is none there is no end to it, and the numbers say nothing.
func (u Use) Left() (amount money.Kobo, payouts int64) {
	return max(u.Amount-u.Used, 0), max(u.Payouts-u.UsedPayouts, 0)
}

// Uses are a company's limits and what is used of them on this day: of the whole
// company first, then of each settlement account, whether or not it is limited.
func (s *Service) Uses(ctx context.Context, company string) (day string, uses []Use, err error) {
	accounts, err := s.settlements.Accounts(ctx, company)
	if err != nil {
		return "", nil, err
	}
	uses = make([]Use, len(accounts)+1)
	for i, a := range accounts {
		uses[i+1].SettlementID = a.ID
	}
	now := s.clock.Now()
	for i := range uses {
		if err := s.use(ctx, company, &uses[i], now); err != nil {
			return "", nil, err
		}
	}
	return now.In(clock.Lagos).Format(time.DateOnly), uses, nil
}

func (s *Service) use(ctx context.Context, company string, u *Use, at time.Time) (err error) {
	if u.Limit, err = s.Limit(ctx, company, u.SettlementID); err != nil {
		return err
	}
	prefix := dayOf(at)
	if u.SettlementID != 0 {
		prefix += ofAccount + strconv.FormatInt(u.SettlementID, 10)
	}
	amount, err := s.book.Last(ctx, company, ledger.Next(prefix+"/amount"))
	if err != nil {
		return err
	}
	u.Used = money.Kobo(amount)
	u.UsedPayouts, err = s.book.Last(ctx, company, ledger.Next(prefix+"/count"))
	return err
}

// ofAccount marks the tallies of one settlement account.
const ofAccount = "/settlement/"

// tallies count a payout on the day it was begun (sign 1), whether or not there
// is a limit, so that a limit set at noon holds for the whole day; or take it
// out again (sign -1), on that same day.
func tallies(o operation.Operation, sign int64, whole, own Limit) []ledger.Tally {
	day := dayOf(o.CreatedAt)
	account := day + ofAccount + strconv.FormatInt(o.SettlementID, 10)
	amount := sign * int64(o.Amount)
	return []ledger.Tally{
		{Name: day + "/amount", Add: amount, Most: int64(whole.Amount)},
		{Name: day + "/count", Add: sign, Most: whole.Payouts},
		{Name: account + "/amount", Add: amount, Most: int64(own.Amount)},
		{Name: account + "/count", Add: sign, Most: own.Payouts},
	}
}

func dayOf(t time.Time) string { return "payout/" + t.In(clock.Lagos).Format(time.DateOnly) }

func overLimit(tally string) error {
	if strings.Contains(tally, ofAccount) {
		return fault.New(fault.Refused, "Daily payout limit of the settlement account reached")
	}
	return fault.New(fault.Refused, "Daily payout limit reached")
}
