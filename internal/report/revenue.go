package report

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// RevenueJob is the kind of the recurring job that adds up fees and charges by day. There is only one such
// job, so only one program adds up at a time.
const RevenueJob = "report.revenue"

const (
	// revenueStep is how long a run of the job reads. It is far shorter than the job's lease.
	revenueStep = time.Second
	// revenuePause is the time between two runs while entries wait, and revenueIdle between two rounds.
	revenuePause = time.Second
	revenueIdle  = 30 * time.Second
	// revenuePage is the number of entries that one transaction adds up.
	revenuePage = 5000
	// RevenueDays is the maximum number of days in one question about revenue.
	RevenueDays = 366
	// RevenueCompanies is the maximum number of companies on a page.
	RevenueCompanies = 50
)

// Earned is what payments earned and what they cost.
type Earned struct {
	Fees     money.Kobo // what companies paid, less what was returned to them
	FeeCount int64      // the fees, less the returned ones
	// Cost is what providers charged to us, less what they took less than a purchase's price. It may be
	// below zero.
	Cost      money.Kobo
	CostCount int64 // the bookings of charges
}

// Margin returns the fees less the cost.
func (e Earned) Margin() money.Kobo { return e.Fees - e.Cost }

// plus returns the sum of two.
func (e Earned) plus(o Earned) Earned {
	return Earned{e.Fees + o.Fees, e.FeeCount + o.FeeCount, e.Cost + o.Cost, e.CostCount + o.CostCount}
}

// RevenueLine is what one day earned by one kind of operation at one provider. An entry counts on the day in
// Lagos on which the ledger booked it. So a past day does not change.
type RevenueLine struct {
	Day      time.Time // midnight in Lagos
	Kind     string    // payout, vtu or card; "" for a booking without an operation, such as a bank's monthly charge
	Provider string
	Earned
}

// Revenue is what a period earned.
type Revenue struct {
	Lines []RevenueLine // by day, kind and provider, the oldest first
	Total Earned
	// ReadAt is when the last round began that has read the ledgers of all companies. Later entries may
	// be missing. It is zero before the end of the first round.
	ReadAt time.Time
}

// CompanyRevenue is what a period earned with one company.
type CompanyRevenue struct {
	Company, Name string // Name is "" for the house
	Earned
}

// ledgerPlace is how far the entries of an account are added up.
type ledgerPlace struct {
	company, account string
	last             int64 // the number of the account's last entry
	sequence         int64 // the number of the last entry in the sums
}

// revenueRound is a round of the job, which may take several runs.
type revenueRound struct {
	company, account string    // the last account that was read
	began            time.Time // zero before the round
	failed           bool
}

// AddRevenue runs a RevenueJob: for about a second, it adds up the entries that are not in the sums yet.
//
// The sums of a page and the place after the page are written in one transaction. So each entry counts
// exactly once, even if a program dies or two programs add up at the same time.
func (s *Service) AddRevenue(ctx context.Context) (next time.Time, err error) {
	more, stop := within(ctx, revenueStep)
	defer stop()
	r := &s.revenue
	if r.began.IsZero() {
		r.began = s.clock.Now()
	}
	for {
		list, unread := revenueWaits(ctx, s.db, r.company, r.account, walkMost)
		if unread != nil {
			return s.clock.Now().Add(revenueIdle), unread
		}
		for _, p := range list {
			if !more() {
				return s.clock.Now().Add(revenuePause), err
			}
			done, failed := s.addAccount(ctx, p, more)
			if err = errors.Join(err, failed); failed != nil {
				r.failed = true
			} else if !done {
				return s.clock.Now().Add(revenuePause), err
			}
			r.company, r.account = p.company, p.account
		}
		if len(list) == walkMost {
			continue
		}
		if !r.failed {
			err = errors.Join(err, setRevenueRound(ctx, s.db, r.began))
		}
		*r = revenueRound{}
		return s.clock.Now().Add(revenueIdle), err
	}
}

// addAccount adds up the entries of an account until there are no more or the time is over. It returns false
// if entries are left.
func (s *Service) addAccount(ctx context.Context, p ledgerPlace, more func() bool) (done bool, err error) {
	for p.sequence < p.last {
		if !more() {
			return false, nil
		}
		through := min(p.sequence+revenuePage, p.last)
		lines, err := revenueOf(ctx, s.db, p, through)
		if err == nil {
			err = s.db.Tx(ctx, func(q db.Querier) error { return writeRevenue(ctx, q, p, through, lines) })
		}
		if errors.Is(err, errOvertaken) {
			return true, nil // another program adds up this account
		}
		if err != nil {
			return false, err
		}
		p.sequence = through
	}
	return true, nil
}

// writeRevenue adds the sums of a page, unless another program has added them already.
func writeRevenue(ctx context.Context, q db.Querier, from ledgerPlace, through int64, lines []RevenueLine) error {
	moved, err := moveRevenuePlace(ctx, q, from, through)
	if err == nil && !moved {
		err = errOvertaken
	}
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := addRevenue(ctx, q, from.company, l); err != nil {
			return err
		}
		if err := addRevenueTotal(ctx, q, l); err != nil {
			return err
		}
	}
	return nil
}

// Revenue returns what a company earned for us in the days from … to, without to, or what all companies and
// the house did if company is "". Both are midnights in Lagos. A period of more than RevenueDays is refused.
func (s *Service) Revenue(ctx context.Context, company string, from, to time.Time) (Revenue, error) {
	var r Revenue
	err := CheckRevenuePeriod(from, to)
	if err != nil {
		return r, err
	}
	if r.ReadAt, err = revenueRead(ctx, s.db); err != nil {
		return r, err
	}
	if company == "" {
		r.Lines, err = totalRevenue(ctx, s.db, dayNumber(from), dayNumber(to))
	} else {
		r.Lines, err = companyRevenue(ctx, s.db, company, dayNumber(from), dayNumber(to))
	}
	for _, l := range r.Lines {
		r.Total = r.Total.plus(l.Earned)
	}
	return r, err
}

// RevenueByCompany returns a page of the companies that earned or cost something in the days from … to,
// without to, in the order of their references. It begins above the company after. The cursor next is ""
// after the last page.
func (s *Service) RevenueByCompany(ctx context.Context, from, to time.Time, after string) (page []CompanyRevenue, next string, err error) {
	if err := CheckRevenuePeriod(from, to); err != nil {
		return nil, "", err
	}
	if after != "" && after != settlement.House && !id.IsCuid(after) {
		return nil, "", db.ErrCursor
	}
	page, err = revenueByCompany(ctx, s.db, after, dayNumber(from), dayNumber(to), RevenueCompanies+1)
	if len(page) > RevenueCompanies {
		page = page[:RevenueCompanies]
		next = page[RevenueCompanies-1].Company
	}
	return page, next, err
}

// EachRevenue calls f with each line of a company, or of every company and the house if company is "", in the
// days from … to, without to.
func (s *Service) EachRevenue(ctx context.Context, company string, from, to time.Time, f func(CompanyRevenue, RevenueLine) error) error {
	if err := CheckRevenuePeriod(from, to); err != nil {
		return err
	}
	of := func(c CompanyRevenue) error {
		lines, err := companyRevenue(ctx, s.db, c.Company, dayNumber(from), dayNumber(to))
		for _, l := range lines {
			if err == nil {
				err = f(c, l)
			}
		}
		return err
	}
	if company != "" {
		names, err := companyNames(ctx, s.db, []string{company})
		if err != nil {
			return err
		}
		return of(CompanyRevenue{Company: company, Name: names[company]})
	}
	for after := ""; ; {
		page, next, err := s.RevenueByCompany(ctx, from, to, after)
		if err != nil {
			return err
		}
		for _, c := range page {
			if err := of(c); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// CheckRevenuePeriod refuses a period that ends before it begins, or that has more than RevenueDays.
func CheckRevenuePeriod(from, to time.Time) error { return checkDays(from, to, RevenueDays) }

// dayBegin returns the midnight at which a day in Lagos begins. The number counts the days since 1970.
func dayBegin(number int64) time.Time {
	return time.Date(1970, 1, 1+int(number), 0, 0, 0, 0, clock.Lagos)
}
