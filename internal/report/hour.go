package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/money"
)

// HoursJob is the kind of the recurring job that counts the operations and the arrivals of each hour. There is
// only one such job, so only one program counts at a time.
const HoursJob = "report.hours"

const (
	// hoursStep is how long a run of the job reads. It is far shorter than the job's lease.
	hoursStep = time.Second
	// hoursPause is the time between two runs while events wait, and hoursIdle while none does.
	hoursPause = time.Second
	hoursIdle  = 10 * time.Second
	// hoursPage is the number of events that one transaction counts.
	hoursPage = 1000
	// hoursReach is the age of the oldest operations that a new table of counts covers. It lets a
	// program compare each hour with the same weekday of the last week.
	hoursReach = 8 * 24 * time.Hour
)

// The outcomes by which operations are counted. An operation is Unsettled from its intent until its outcome.
const (
	Unsettled = "unknown"
	Paid      = "paid"
	Refunded  = "failed"
	Returned  = "reversed"
)

// outcomes maps the kind of each event that is counted to the outcome that it tells of.
var outcomes = map[string]string{
	event.PayoutPending: Unsettled, event.PayoutSuccess: Paid, event.PayoutFailed: Refunded, event.PayoutReversed: Returned,
	event.VTUPending: Unsettled, event.VTUSuccess: Paid, event.VTUFailed: Refunded, event.VTUReversed: Returned,
	event.CardFundingPending: Unsettled, event.CardFunded: Paid, event.CardFundingFailed: Refunded,
}

// Cell names the operations or credits of one kind and provider that began in one hour and have one outcome.
type Cell struct {
	At       time.Time // the beginning of the hour
	Kind     string
	Provider string
	Outcome  string
}

// Hour is the number of the operations or credits in a cell, and the sum of their amounts without fees.
type Hour struct {
	Cell
	Count  int64
	Amount money.Kobo
}

// begun is an operation or an arrival as the counts see it.
type begun struct {
	id        string
	kind      string
	provider  string
	amount    money.Kobo
	createdAt time.Time
}

// cell returns the cell of an operation with an outcome.
func (b begun) cell(outcome string) Cell {
	return Cell{b.createdAt.Truncate(time.Hour), b.kind, b.provider, outcome}
}

// told is an event that is counted.
type told struct {
	kind string
	data string
}

// subject returns what the event is about: the reference of an operation, which purchases call the
// transactionId, or what arrivalOf returns for an arrival.
func (e told) subject() (string, error) {
	var data struct {
		ID                                  json.RawMessage
		Reference, TransactionID, SessionID string
	}
	err := json.Unmarshal([]byte(unpacked(e.data)), &data)
	if arrived[e.kind] != "" {
		return arrivalOf(e.kind, strings.Trim(string(data.ID), `"`), data.SessionID), err
	}
	return cmp.Or(data.Reference, data.TransactionID), err
}

// counting is how far the events of a company are counted.
type counting struct {
	company  string
	head     int64     // the number of the company's last event
	sequence int64     // the number of the last event whose operation is counted; -1 before the first count
	arrivals int64     // the same of arrivals, which earlier programs do not count
	since    time.Time // what began before does not count
}

// next returns the events that are counted next: above from and up to through, with their outcomes. If
// arrivals are counted less far than operations, they are counted alone up to there, and the reverse.
func (p counting) next() (from, through int64, of map[string]string) {
	from = min(p.sequence, p.arrivals)
	through = min(from+hoursPage, p.head)
	switch {
	case p.arrivals < p.sequence:
		return from, min(through, p.sequence), arrived
	case p.sequence < p.arrivals:
		return from, min(through, p.arrivals), outcomes
	}
	return from, through, counted
}

// change is what a page of events changes in the counts.
type change struct {
	from, through counting
	sums          map[Cell]Hour
	coins         map[string]coin // what each deposit on a chain brings, by its subject
	deposits      coinSums
	opened        map[string]begun // what begins in the page and has no outcome in it
	ended         []string         // what began in an earlier page, and has its outcome in this page
}

// add adds one operation or arrival to the cell of an outcome, or removes it if n is -1.
func (c *change) add(o begun, outcome string, n int64) {
	at := o.cell(outcome)
	if brought, is := c.coins[o.id]; is {
		c.deposits.add(at, brought.asset, brought.decimals, n, new(big.Int).Mul(big.NewInt(n), brought.units))
		return
	}
	h := c.sums[at]
	c.sums[at] = Hour{at, h.Count + n, h.Amount + money.Kobo(n)*o.amount}
}

// CountHours runs an HoursJob: for about a second, it counts the events that are not counted yet. The
// function since returns the number of a company's first event at an instant or later.
//
// The counts of a page and the place after the page are written in one transaction. So each event
// counts exactly once, even if a program dies or two programs count at the same time.
func (s *Service) CountHours(ctx context.Context, since func(ctx context.Context, company string, at time.Time) (int64, error)) (next time.Time, err error) {
	more, stop := within(ctx, hoursStep)
	defer stop()
	for {
		list, unread := uncounted(ctx, s.db, s.counted, walkMost)
		err = errors.Join(err, unread)
		for _, p := range list {
			if !more() {
				return s.clock.Now().Add(hoursPause), err
			}
			err = errors.Join(err, s.countCompany(ctx, p, since, more))
			s.counted = p.company
		}
		if len(list) < walkMost { // the last companies were reached, so the next run begins with the first
			s.counted = ""
			return s.clock.Now().Add(hoursIdle), err
		}
	}
}

// countCompany counts the events of a company until there are no more or the time is over.
func (s *Service) countCompany(ctx context.Context, p counting, since func(context.Context, string, time.Time) (int64, error), more func() bool) error {
	if p.sequence < 0 || p.arrivals < 0 {
		var err error
		if p, err = s.begin(ctx, p, since); err != nil {
			return err
		}
	}
	for min(p.sequence, p.arrivals) < p.head && more() {
		c, err := s.readPage(ctx, p)
		if err == nil {
			err = s.db.Tx(ctx, func(q db.Querier) error { return c.write(ctx, q) })
		}
		if errors.Is(err, errOvertaken) {
			return nil // another program counts this company
		}
		if err != nil {
			return err
		}
		p = c.through
	}
	return nil
}

// begin stores the first place of a company, or the first place of its arrivals.
func (s *Service) begin(ctx context.Context, p counting, since func(context.Context, string, time.Time) (int64, error)) (counting, error) {
	from := s.clock.Now().Add(-hoursReach).Truncate(time.Hour)
	first, err := since(ctx, p.company, from)
	if err != nil {
		return p, err
	}
	if p.arrivals = first - 1; p.sequence < 0 {
		p.sequence, p.since = first-1, from
		return p, beginPlace(ctx, s.db, p)
	}
	return p, beginArrivals(ctx, s.db, p)
}

var errOvertaken = errors.New("report: another program has counted these events")

// readPage returns what the next events of a company change. Committed events never change, so it reads
// them before the transaction.
func (s *Service) readPage(ctx context.Context, p counting) (change, error) {
	c := change{from: p, through: p, sums: map[Cell]Hour{}, deposits: coinSums{}, opened: map[string]begun{}}
	from, through, of := p.next()
	if p.sequence == from {
		c.through.sequence = through
	}
	if p.arrivals == from {
		c.through.arrivals = through
	}
	events, err := toldBetween(ctx, s.db, p.company, from, through, of)
	if err != nil {
		return c, err
	}
	subjects := make([]string, len(events))
	for i, e := range events {
		if subjects[i], err = e.subject(); err != nil {
			return c, err
		}
	}
	if len(subjects) == 0 {
		return c, nil
	}
	all, err := begunBy(ctx, s.db, p.company, subjects)
	if err != nil {
		return c, err
	}
	if c.coins, err = readArrivals(ctx, s.db, p.company, subjects, all); err != nil {
		return c, err
	}
	open, err := stillOpen(ctx, s.db, p.company, subjects)
	for i, e := range events {
		// An event without its row is a finding of kobo verify, and counts nowhere.
		if o, there := all[subjects[i]]; there && !o.createdAt.Before(p.since) {
			c.count(o, of[e.kind], open)
		}
	}
	return c, err
}

// count adds an event to a change. The map open has the operations that began in an earlier page.
func (c *change) count(o begun, outcome string, open map[string]begun) {
	if outcome == Unsettled {
		c.opened[o.id] = o
		c.add(o, Unsettled, 1)
		return
	}
	was, fresh := c.opened[o.id]
	if !fresh {
		was = open[o.id]
	}
	switch {
	case was.id != "": // it counts where it was counted as unknown, also if it has moved to another provider since
		c.add(was, Unsettled, -1)
		if delete(c.opened, o.id); !fresh {
			delete(open, o.id)
			c.ended = append(c.ended, o.id)
		}
	case outcome == Returned: // after its success
		c.add(o, Paid, -1)
	}
	c.add(o, outcome, 1)
}

// write writes a change, unless another program has written it already.
func (c *change) write(ctx context.Context, q db.Querier) error {
	moved, err := movePlace(ctx, q, c.from, c.through)
	if err == nil && !moved {
		err = errOvertaken
	}
	if err != nil {
		return err
	}
	if err := removeOpen(ctx, q, c.from.company, c.ended); err != nil {
		return err
	}
	for _, o := range c.opened {
		if err := insertOpen(ctx, q, c.from.company, o); err != nil {
			return err
		}
	}
	// Two programs that count different companies change the cells in the same order.
	for _, h := range sorted(c.sums) {
		if h.Count == 0 && h.Amount == 0 {
			continue
		}
		if err := addHour(ctx, q, h); err != nil {
			return err
		}
	}
	return c.writeDeposits(ctx, q)
}

// sorted returns the values of a map of cells, in the order of the primary key.
func sorted(sums map[Cell]Hour) []Hour {
	var out []Hour
	for _, h := range sums {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Hour) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Outcome, b.Outcome))
	})
	return out
}

// Hours returns the counts of the hours from … to, without to, the oldest first. An operation counts in
// the hour in which it began, and a credit in the hour in which it was booked. The counts are at most some seconds behind the events.
func (s *Service) Hours(ctx context.Context, from, to time.Time) ([]Hour, error) {
	return hoursBetween(ctx, s.db, from, to)
}
