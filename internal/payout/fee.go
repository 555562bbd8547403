package payout

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
)

// Band is the fee of payouts from an amount upwards, until the next band begins. The fee is
// a flat part plus a share of the amount, and is at most the cap.
type Band struct {
	From        money.Kobo `db:"from_kobo,key"`
	Flat        money.Kobo `db:"flat_kobo"`
	BasisPoints int64      `db:"basis_points"` // hundredths of a percent
	Cap         money.Kobo `db:"cap_kobo"`     // 0 for no cap
}

// Schedule is a company's bands, from the lowest amount up. A company without bands
// pays no fee.
type Schedule []Band

// Fee returns the fee of a payout. Fee rounds the share down to whole kobo, so the company
// pays no fraction of a kobo.
func (s Schedule) Fee(amount money.Kobo) money.Kobo {
	var fee money.Kobo
	for _, b := range s {
		if amount < b.From {
			break
		}
		// The product is at most 10^13 kobo times 10^4, which cannot overflow an int64.
		fee = b.Flat + amount*money.Kobo(b.BasisPoints)/10_000
		if b.Cap > 0 {
			fee = min(fee, b.Cap)
		}
	}
	return fee
}

// IsBelow reports whether a part of the schedule is lower than in an earlier schedule. A part is the
// flat part, the share or the highest fee of some amount. So the fee of an amount can be lower
// only if IsBelow returns true.
func (s Schedule) IsBelow(old Schedule) bool {
	for _, b := range slices.Concat(s, old) {
		is, was := s.band(b.From), old.band(b.From)
		if is.flat() < was.flat() || is.BasisPoints < was.BasisPoints || is.most() < was.most() {
			return true
		}
	}
	return false
}

// band returns the band of an amount, or a band without a fee.
func (s Schedule) band(amount money.Kobo) (out Band) {
	for _, b := range s {
		if b.From <= amount {
			out = b
		}
	}
	return out
}

// flat returns the part of the fee that is the same for each amount.
func (b Band) flat() money.Kobo {
	if b.Cap > 0 {
		return min(b.Flat, b.Cap)
	}
	return b.Flat
}

// most returns the highest fee of the band.
func (b Band) most() money.Kobo {
	switch {
	case b.BasisPoints == 0:
		return b.flat()
	case b.Cap == 0:
		return math.MaxInt64
	}
	return b.Cap
}

// String returns the schedule in the operators' notation. Each band is written as
// from:flat:percent:cap. A schedule without bands is written as "none".
func (s Schedule) String() string {
	if len(s) == 0 {
		return "none"
	}
	bands := make([]string, len(s))
	for i, b := range s {
		bands[i] = b.From.Decimal() + ":" + b.Flat.Decimal() + ":" + money.Kobo(b.BasisPoints).Decimal() + ":" + b.Cap.Decimal()
	}
	return strings.Join(bands, " ")
}

// mostBands is the highest number of bands in a schedule. No real schedule needs so many.
const mostBands = 100

// Check returns an error if the bands are not in order, or a value of a band is out of range.
func (s Schedule) Check() error {
	if len(s) > mostBands {
		return fault.Newf(fault.Invalid, "A schedule has at most %d bands", mostBands)
	}
	for i, b := range s {
		switch {
		case i == 0 && b.From != 0:
			return fault.New(fault.Invalid, "The first band must begin at 0")
		case i > 0 && b.From <= s[i-1].From:
			return fault.New(fault.Invalid, "Each band must begin above the one before it")
		case b.Flat < 0 || b.Flat > money.Max || b.Cap < 0 || b.Cap > money.Max || b.From > money.Max:
			return fault.New(fault.Invalid, "An amount of the schedule is out of range")
		case b.BasisPoints < 0 || b.BasisPoints > 10_000:
			return fault.New(fault.Invalid, "A percentage must be 0 to 100")
		}
	}
	return nil
}

// feesChanged is the data of the event that reports a new fee schedule. A schedule without bands
// means that there are no fees.
type (
	feesChanged struct {
		CompanyID string     `json:"companyId"`
		Bands     []bandData `json:"bands"`
	}
	bandData struct {
		From    money.Kobo `json:"from"`
		Flat    money.Kobo `json:"flat"`
		Percent money.Kobo `json:"percent"` // JSON shows basis points as a percentage, as it shows kobo as naira
		Cap     money.Kobo `json:"cap"`
	}
)

// told returns the data of the event for a schedule.
func (s Schedule) told(company string) feesChanged {
	data := feesChanged{company, make([]bandData, len(s))}
	for i, b := range s {
		data.Bands[i] = bandData{b.From, b.Flat, money.Kobo(b.BasisPoints), b.Cap}
	}
	return data
}

// SetFees replaces a company's fee schedule from now on. With an empty schedule, the company
// pays no fees. The schedule is in force immediately, also if the clock was ahead when the earlier
// schedule was set. If two are set at once, the later commit is in force.
func (s *Service) SetFees(ctx context.Context, by operator.Operator, company string, schedule Schedule) error {
	if err := schedule.Check(); err != nil {
		return err
	}
	for {
		last, changes, err := s.lastFees(ctx, company)
		if err != nil {
			return err
		}
		err = s.setFees(ctx, by, company, id.After(last), schedule, changes)
		if !ledger.IsOver(err, feesSet) {
			return explain(err)
		}
	}
}

// setFees commits a schedule, if the company's schedule has been changed this often before.
func (s *Service) setFees(ctx context.Context, by operator.Operator, company, version string, schedule Schedule, changes int64) error {
	now, u := s.Clock.Now(), ledger.For(company)
	u.Count(feesSet, 1, changes+1)
	by.Audit(&u, "payout.fees", version, map[string]string{"bands": schedule.String()}, now)
	event.Emit(&u, event.FeesChanged, schedule.told(company))
	if len(schedule) == 0 {
		schedule = Schedule{{}}
	}
	for _, b := range schedule {
		u.Append(fees.Record(feeRow{company, version, b, now}))
	}
	return s.Book.Commit(ctx, u)
}

// Fees returns the company's fee schedule that is now in force.
func (s *Service) Fees(ctx context.Context, company string) (Schedule, error) {
	schedule, _, err := s.FeesSince(ctx, company)
	return schedule, err
}

// Kept converts stored bands into a schedule. A single empty band is stored when a company
// pays no fees, so Kept converts it into an empty schedule.
func Kept(bands Schedule) Schedule {
	if len(bands) == 1 && bands[0] == (Band{}) {
		return nil
	}
	return bands
}

// explain turns the ledger's refusal of an unknown company into a fault.
func explain(err error) error {
	if ledger.Is(err, ledger.NoCompany) {
		return fault.New(fault.Missing, "Company not found")
	}
	return err
}
