package report

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const (
	// overviewLife is how long an overview is shown before it is read again.
	overviewLife = 5 * time.Second
	// overviewLimit is the longest time of one reading.
	overviewLimit = 10 * time.Second
	// mostEndpoints is the number of failing endpoints that an overview names.
	mostEndpoints = 20
)

// ClearingAges are the classes of ages of money in clearing: up to 1 minute, 10 minutes, 2 hours and 72
// hours, and older.
var ClearingAges = [...]string{"1m", "10m", "2h", "72h", "older"}

// Sum is a number of things, their amount, and the instant of the oldest. The instant is zero if there are none.
type Sum struct {
	Count  int64
	Amount money.Kobo
	Oldest time.Time
}

func (s *Sum) add(o Sum) {
	s.Count += o.Count
	s.Amount += o.Amount
	if s.Oldest.IsZero() || !o.Oldest.IsZero() && o.Oldest.Before(s.Oldest) {
		s.Oldest = o.Oldest
	}
}

// Named is a sum of things with a name, such as the reason of cases or a provider.
type Named struct {
	Name string
	Sum
}

// FailingEndpoint is a webhook endpoint that does not accept events.
type FailingEndpoint struct {
	Company  string
	Name     string // the company's name
	ID       string
	Failures int64     // the failures in a row
	Since    time.Time // the time of the first of them
}

// Overview is what an operator sees first: what needs a person, where the money is, and what happened in the
// last hours. It covers all companies.
type Overview struct {
	At time.Time // the instant of the reading

	Cases     []Named // the open cases by reason
	Proposals Sum     // acts that wait for a second operator
	// Corrections are adjustments that wait for a second operator.
	Corrections Sum
	// Unknown are the operations by provider whose outcome is unknown after their first call. Those with an open case
	// are among the cases instead.
	Unknown   []Named
	Endpoints []FailingEndpoint
	Inbox     []Named // the notifications by provider that are not worked
	Suspense  money.Kobo
	// Jobs are the jobs whose last run has failed, at most 200. Oldest is when the first of them was made.
	Jobs Sum
	// ClosedAccounts are the settlement accounts that are closed to debits, because rows of them do not
	// verify. Differences are the companies whose last verification has found a difference.
	ClosedAccounts, Differences int64
	Runs                        []Run // the last comparison of each bank's statement, without the findings

	Owed      Sum   // the settlement accounts of the companies
	Companies int64 // the number of companies with a ledger
	// Ledgers is our money at each provider according to the ledgers of all companies.
	Ledgers  map[string]money.Kobo
	Clearing [len(ClearingAges)]Sum // the PENDING operations in the order of ClearingAges, with their fees

	// Hours are the counts of the last 24 hours with the running one, and LastWeek those of the same hours
	// seven days earlier.
	Hours, LastWeek []Hour
	Today           []Hour // the counts of the hours since midnight in Lagos
	// Deposits are the counts of the deposits on chains in the last 24 hours, by network, asset and outcome.
	Deposits []Deposits
}

// overviews keeps the last overview of a program for all its readers.
type overviews struct {
	mu   sync.Mutex
	last Overview
}

// Overview returns an overview that is at most five seconds old. All readers of a program share one. If it
// cannot be read, Overview returns an error, and no older overview.
func (s *Service) Overview(ctx context.Context) (Overview, error) {
	o := &s.overviews
	o.mu.Lock()
	defer o.mu.Unlock()
	now := s.clock.Now()
	if old := now.Sub(o.last.At); !o.last.At.IsZero() && old >= 0 && old < overviewLife {
		return o.last, nil
	}
	// The others do not lose their overview if the reader who began goes away.
	ctx, stop := context.WithTimeout(db.Reading(context.WithoutCancel(ctx)), overviewLimit)
	defer stop()
	next, err := s.readOverview(ctx, now)
	if err == nil {
		o.last = next
	}
	return next, err
}

func (s *Service) readOverview(ctx context.Context, now time.Time) (o Overview, err error) {
	queues, err := allQueues(ctx, s.db, s.db.Routed())
	if err != nil {
		return o, err
	}
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		o = Overview{At: now} // a snapshot may begin again
		for _, part := range []func(context.Context, db.Querier) error{
			o.readNeeds,
			func(ctx context.Context, q db.Querier) error {
				return o.readOpen(ctx, q, ofKind(queues, operation.ResolveJob))
			},
			func(ctx context.Context, q db.Querier) error {
				return o.readInbox(ctx, q, ofKind(queues, inbox.WorkJob))
			},
			o.readLedgers,
			o.readHours,
		} {
			if err := part(ctx, q); err != nil {
				return err
			}
		}
		return nil
	})
	return o, err
}

// readNeeds reads what waits for people.
func (o *Overview) readNeeds(ctx context.Context, q db.Querier) (err error) {
	if o.Cases, err = casesByReason(ctx, q); err != nil {
		return err
	}
	if o.Proposals, err = openProposals(ctx, q, o.At); err != nil {
		return err
	}
	if o.Corrections, err = pendingAdjustments(ctx, q); err != nil {
		return err
	}
	if o.Endpoints, err = failingEndpoints(ctx, q); err != nil {
		return err
	}
	if o.Jobs, err = failingSum(ctx, q); err != nil {
		return err
	}
	if o.ClosedAccounts, err = closedAccounts(ctx, q); err != nil {
		return err
	}
	found, err := walkFindingsOf(ctx, q)
	if o.Differences = int64(len(found)); err != nil {
		return err
	}
	o.Runs, err = lastRuns(ctx, q, o.At)
	return err
}

// readOpen reads the PENDING operations, by age and by what is known about them.
func (o *Overview) readOpen(ctx context.Context, q db.Querier, queues []string) error {
	rows, err := openByAge(ctx, q, queues, o.At)
	for _, r := range rows {
		o.Clearing[r.age].add(r.Sum)
		if r.unknown == 0 {
			continue
		}
		if n := len(o.Unknown); n == 0 || o.Unknown[n-1].Name != r.provider {
			o.Unknown = append(o.Unknown, Named{Name: r.provider})
		}
		o.Unknown[len(o.Unknown)-1].add(r.Sum)
	}
	return err
}

func (o *Overview) readInbox(ctx context.Context, q db.Querier, queues []string) error {
	waiting, err := waitingJobs(ctx, q, queues)
	for _, name := range sortedNames(waiting) {
		t := waiting[name]
		o.Inbox = append(o.Inbox, Named{name, Sum{Count: t.count, Oldest: t.oldest}})
	}
	return err
}

// readLedgers adds up the balances of all ledger accounts.
func (o *Overview) readLedgers(ctx context.Context, q db.Querier) error {
	var err error
	if o.Companies, err = companyCount(ctx, q); err != nil {
		return err
	}
	rows, err := accountSums(ctx, q)
	o.Ledgers = map[string]money.Kobo{}
	for _, r := range rows {
		switch name, isProvider := strings.CutPrefix(r.name, settlement.ProviderAccount("")); {
		case r.name == settlementAccounts:
			o.Owed = Sum{Count: r.count, Amount: r.amount}
		case r.name == settlement.SuspenseAccount:
			o.Suspense = r.amount
		case isProvider:
			o.Ledgers[name] = -r.amount
		}
	}
	return err
}

func (o *Overview) readHours(ctx context.Context, q db.Querier) (err error) {
	const day = 24 * time.Hour
	to := o.At.Truncate(time.Hour).Add(time.Hour)
	if o.Hours, err = hoursBetween(ctx, q, to.Add(-day), to); err != nil {
		return err
	}
	ownerless, err := ownerlessSince(ctx, q, to.Add(-day))
	if err != nil {
		return err
	}
	o.Hours = addOwnerless(o.Hours, ownerless)
	deposits, err := depositsBetween(ctx, q, to.Add(-day), to)
	if err != nil {
		return err
	}
	o.Deposits = withoutHours(deposits)
	if o.LastWeek, err = hoursBetween(ctx, q, to.Add(-8*day), to.Add(-7*day)); err != nil {
		return err
	}
	for _, h := range o.Hours {
		if !h.At.Before(midnight(o.At)) {
			o.Today = append(o.Today, h)
		}
	}
	return nil
}
