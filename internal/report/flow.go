package report

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

const (
	// flowEntries is the number of entries that one call of DayFlows adds up at most. After the first flowStep entries it goes on for flowTime
	// only. The next call goes on. So a page stays fast, also on a busy machine.
	flowEntries = 100_000
	flowStep    = 10_000
	flowTime    = 25 * time.Millisecond
	// flowDays is the number of days of accounts whose sums a program keeps.
	flowDays = 60_000
)

// DayFlow is what came into a settlement account on a day in Lagos, and what left it. A refund comes in.
type DayFlow struct {
	Day     time.Time // midnight in Lagos, at which the day begins
	In, Out money.Kobo
}

// flow is the sums of the entries of a day up to, but not including, the entry with the number end.
type flow struct {
	in, out money.Kobo
	end     int64
}

type flowKey struct {
	company, account string
	day              int64
}

// flows are the sums that the program has added up. An entry never changes, so a sum only grows at its end.
type flows struct {
	most int64 // the number of entries that a call adds up
	mu   sync.Mutex
	kept map[flowKey]flow
}

func (f *flows) find(k flowKey) (flow, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	got, there := f.kept[k]
	return got, there
}

// keep keeps a sum, unless a longer one is there. It drops some other one if there are too many.
func (f *flows) keep(k flowKey, sum flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if there := f.kept[k]; there.end > sum.end {
		return
	}
	f.kept[k] = sum
	for other := range f.kept {
		if len(f.kept) <= flowDays {
			return
		}
		delete(f.kept, other)
	}
}

// DayFlows returns what moved in a settlement account on each of the last days, the oldest first, ending with the present day. Days
// before the account was opened are left out. An unknown account is a fault of the kind Missing.
//
// A program adds up each entry once, and then only the entries that are new. A call adds up so many entries that it stays short,
// the newest first. If there are more, the days before them are left out, and isWhole is false: the next call goes on.
func (s *Service) DayFlows(ctx context.Context, company string, settlementID int64, days int) (out []DayFlow, isWhole bool, err error) {
	inTime, stop := within(ctx, flowTime)
	defer stop()
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		out, isWhole = nil, false // a snapshot may begin again
		left := s.flows.most
		all, err := s.lastDays(ctx, q, company, settlementID, days)
		if err != nil {
			return err
		}
		for _, d := range all {
			sum, err := s.flowOf(ctx, q, company, d, &left, inTime)
			if err != nil {
				return err
			}
			if sum.end < d.end {
				return nil
			}
			out = append(out, DayFlow{dayBegin(d.day), sum.in, sum.out})
		}
		isWhole = true
		return nil
	})
	slices.Reverse(out)
	return out, isWhole, err
}

// flowOf returns the sums of a day, as far as the number of entries that are left and the time reach. The first flowStep
// entries of a call need no time.
func (s *Service) flowOf(ctx context.Context, q db.Querier, company string, d daySpan, left *int64, inTime func() bool) (flow, error) {
	k := flowKey{company, d.account, d.day}
	sum, there := s.flows.find(k)
	if !there {
		sum.end = d.first
	}
	for sum.end < d.end && *left > 0 && (s.flows.most-*left < flowStep || inTime()) {
		end := min(d.end, sum.end+*left, sum.end+flowStep)
		more, err := flowWithin(ctx, q, company, span{d.account, sum.end, end})
		if err != nil {
			return sum, err
		}
		*left -= end - sum.end
		sum = flow{sum.in + more.in, sum.out + more.out, end}
		s.flows.keep(k, sum)
	}
	return sum, nil
}
