package payout

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Limit is the most that may be paid out in one day. The day begins at midnight in Lagos. A
// value of 0 means that there is no limit.
type Limit struct {
	Amount  money.Kobo `db:"amount_kobo"` // excludes fees
	Payouts int64      `db:"payouts"`
	Since   time.Time  `db:"created_at"` // zero if the limit was never set
}

// Check returns an error if an amount or a number of the limit is out of range.
func (l Limit) Check() error {
	if l.Amount < 0 || l.Payouts < 0 {
		return fault.New(fault.Invalid, "A limit must not be negative")
	}
	if l.Amount > money.Max {
		return fault.New(fault.Invalid, "A limit "+money.ErrRange.Error())
	}
	return nil
}

// SetLimit sets the daily limit of a company (settlementID 0) or of one settlement account.
// Today's earlier payouts count towards the new limit. The limit is in force immediately, also if the
// clock was ahead when the earlier limit was set. If two are set at once, the later commit is in force.
func (s *Service) SetLimit(ctx context.Context, by operator.Operator, company string, settlementID int64, l Limit) error {
	if err := l.Check(); err != nil {
		return err
	}
	if settlementID != 0 {
		if _, err := s.Settlements.Find(ctx, company, settlementID); err != nil {
			return err
		}
	}
	for {
		last, changes, err := s.lastLimit(ctx, company, settlementID)
		if err != nil {
			return err
		}
		err = s.setLimit(ctx, by, limitRow{company, settlementID, id.After(last), l}, changes)
		if !ledger.IsOver(err, limitSet(settlementID)) {
			return explain(err)
		}
	}
}

// setLimit commits a limit, if the company's limit has been changed this often before.
func (s *Service) setLimit(ctx context.Context, by operator.Operator, row limitRow, changes int64) error {
	row.Since = s.Clock.Now()
	u := ledger.For(row.Company)
	u.Count(limitSet(row.SettlementID), 1, changes+1)
	u.Append(limits.Record(row))
	by.Audit(&u, "payout.limit", strconv.FormatInt(row.SettlementID, 10), map[string]string{
		"amount": row.Amount.Decimal(), "payouts": strconv.FormatInt(row.Payouts, 10), "version": row.Version,
	}, row.Since)
	event.Emit(&u, event.LimitsChanged, event.Limit{
		CompanyID: row.Company, Limit: "payout", Per: "day",
		SettlementID: wire.Number(row.SettlementID), Amount: wire.Optional(row.Amount), Count: wire.Number(row.Payouts),
	})
	return s.Book.Commit(ctx, u)
}

// Use is a limit and the part of the limit that today's payouts have used.
type Use struct {
	SettlementID int64 // 0 for the whole company
	Limit
	Used        money.Kobo // excludes fees and refunded payouts
	UsedPayouts int64
}

// Left returns what is left of the limit for today. The result is meaningless if there is no limit.
func (u Use) Left() (amount money.Kobo, payouts int64) {
	return max(u.Amount-u.Used, 0), max(u.Payouts-u.UsedPayouts, 0)
}

// Uses returns a company's limits and today's use of each limit. The first element is for the
// whole company. Each settlement account follows, even if the account has no limit.
func (s *Service) Uses(ctx context.Context, company string) (day string, uses []Use, err error) {
	accounts, err := s.Settlements.Accounts(ctx, company)
	if err != nil {
		return "", nil, err
	}
	uses = make([]Use, len(accounts)+1)
	for i, a := range accounts {
		uses[i+1].SettlementID = a.ID
	}
	now := s.Clock.Now()
	limits, err := s.limits(ctx, company)
	if err != nil {
		return "", nil, err
	}
	used, err := s.Book.Lasts(ctx, company, countersOf(uses, now))
	if err != nil {
		return "", nil, err
	}
	for i := range uses {
		u := &uses[i]
		prefix := u.prefix(now)
		u.Limit, u.Used, u.UsedPayouts = limits[u.SettlementID], money.Kobo(used[prefix+"/amount"]), used[prefix+"/count"]
	}
	return now.In(clock.Lagos).Format(time.DateOnly), uses, nil
}

// countersOf returns the names of the limit counters of a day.
func countersOf(uses []Use, at time.Time) (names []string) {
	for _, u := range uses {
		names = append(names, u.prefix(at)+"/amount", u.prefix(at)+"/count")
	}
	return names
}

// prefix returns how the names of the limit counters of a day begin.
func (u Use) prefix(at time.Time) string {
	if u.SettlementID == 0 {
		return dayOf(at)
	}
	return dayOf(at) + ofAccount + strconv.FormatInt(u.SettlementID, 10)
}

// ofAccount is the part of a limit counter's name that marks a settlement account's counter.
const ofAccount = "/settlement/"

// counter is the name of a limit counter, the change that a payout makes to it, and its limit.
type counter struct {
	name       string
	add, limit int64
}

// isCount reports whether the counter counts payouts, and not their amounts.
func (c counter) isCount() bool { return strings.HasSuffix(c.name, "/count") }

// counters returns the changes of the limit counters of the day on which a payout began. The
// changes count the payout (sign 1) or take it out again (sign -1). Payouts are counted even
// without a limit, so that a limit set at noon includes the morning's payouts.
func counters(o operation.Operation, sign int64, whole, own Limit) []counter {
	day := dayOf(o.CreatedAt)
	account := day + ofAccount + strconv.FormatInt(o.SettlementID, 10)
	amount := sign * int64(o.Amount)
	return []counter{
		{day + "/amount", amount, int64(whole.Amount)},
		{day + "/count", sign, whole.Payouts},
		{account + "/amount", amount, int64(own.Amount)},
		{account + "/count", sign, own.Payouts},
	}
}

// count adds the changes of limit counters to a unit.
func count(u *ledger.Unit, counters []counter) {
	for _, c := range counters {
		u.Count(c.name, c.add, c.limit)
	}
}

func dayOf(t time.Time) string { return "payout/" + t.In(clock.Lagos).Format(time.DateOnly) }

func overLimit(counter string) error {
	if strings.Contains(counter, ofAccount) {
		return fault.New(fault.Refused, "Daily payout limit of the settlement account reached").With(fault.PayoutLimitReached)
	}
	return fault.New(fault.Refused, "Daily payout limit reached").With(fault.PayoutLimitReached)
}
