package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// WalkJob is the kind of the recurring job that walks through all rows of all ledgers. There is
// only one such job, so only one walk runs at a time.
const WalkJob = "report.walk"

const (
	// walkEvery is the time from the beginning of a walk through a company's ledger to the next one.
	walkEvery = 24 * time.Hour
	// walkAgain is the same after a walk that has found a difference. So the difference soon leaves
	// the result of Integrity after an operator has repaired it.
	walkAgain = time.Hour
	// walkStep is how long a run of the job reads: half of it new rows, and half of it walks. It is far
	// shorter than the job's lease.
	walkStep = time.Second
	// walkPause is the time between two runs while a walk is due. So walks use at most a quarter of
	// one processor.
	walkPause = 3 * time.Second
	// walkIdle is the time between two runs while no walk is due.
	walkIdle = 10 * time.Minute
	// walkMost is the maximum number of companies in one run.
	walkMost = 100
	// countMost is the number of events that one SQL query counts.
	countMost = 10_000
)

// walk is a verification of all rows of a company in steps. Between two steps it is stored as JSON.
type walk struct {
	At         time.Time
	Ledger     *ledger.Walk
	Events     int64  // the number of the last event that was counted
	Credit     string // the last credit that was read
	Collection string // the last collection that was read
	Line       string // the last audit line that was read
	Adopted    bool   // the company has no unsigned rows
	Wrongs     []string
	Accepted   []string // findings that two operators have accepted
}

// Begin adds the recurring jobs to the job list, unless the list contains them already.
func (s *Service) Begin(ctx context.Context) error {
	return job.Plan(ctx, s.db,
		job.Job{Company: inbox.House, Kind: WalkJob, RunAt: s.clock.Now().Add(walkIdle)},
		job.Job{Company: inbox.House, Kind: HoursJob, RunAt: s.clock.Now().Add(hoursIdle)},
		job.Job{Company: inbox.House, Kind: RevenueJob, RunAt: s.clock.Now().Add(revenueIdle)})
}

// Walk runs a WalkJob: for about a second, it checks what is new in the ledgers, and continues the walks
// that are due. It returns the findings of the walks that have ended, and the time of the next run.
func (s *Service) Walk(ctx context.Context) (wrongs []string, next time.Time, err error) {
	rest, err := s.checkMoved(ctx)
	more, stop := within(ctx, walkStep/2)
	defer stop()
	due, unread := dueWalks(ctx, s.db, s.clock.Now())
	err = errors.Join(err, unread)
	for _, company := range due {
		if !more() {
			break
		}
		found, failed := s.step(ctx, company, more)
		wrongs, err = append(wrongs, found...), errors.Join(err, failed)
	}
	pause := walkIdle
	if rest || len(due) == walkMost || !more() {
		pause = walkPause
	}
	return wrongs, s.clock.Now().Add(pause), err
}

// step begins or continues the walk through a company's ledger. After its end it stores the
// findings, and returns them.
func (s *Service) step(ctx context.Context, company string, more func() bool) ([]string, error) {
	ctx = db.WithLongTimeout(ctx)
	w, err := s.walkOf(ctx, company)
	if err != nil {
		return nil, err
	}
	done, err := w.goOn(ctx, s.db, more)
	if err == nil {
		err = w.handOver(ctx, s.Broken)
	}
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, w.save(ctx, s.db)
	}
	return w.finish(ctx, s)
}

// walkOf returns the company's unfinished walk, or a new walk.
func (s *Service) walkOf(ctx context.Context, company string) (w walk, err error) {
	text, err := db.OrZero(db.One(ctx, s.db, db.Value[string], `SELECT walk FROM report_progress WHERE company_id = $1`, company))
	if err != nil {
		return w, err
	}
	if err = decode(text, &w); err == nil && w.Ledger == nil {
		w.At = s.clock.Now()
		if w.Ledger, err = ledger.BeginWalk(ctx, s.db, company); err == nil {
			w.Adopted, err = adopted(ctx, s.db, company)
		}
	}
	return w, err
}

// goOn continues the walk until more returns false, and reports whether the walk has reached its
// end.
func (w *walk) goOn(ctx context.Context, q *db.DB, time func() bool) (done bool, err error) {
	company := w.Ledger.Company
	more := func() bool { return len(w.Ledger.Breaks) < ledger.MostBreaks && time() }
	for _, part := range []func() (bool, error){
		func() (bool, error) { return w.checkLines(ctx, q, more) },
		func() (bool, error) {
			return w.Ledger.Continue(ctx, q, w.genuine(q.Signer(), ledger.TransferTable), more)
		},
		func() (bool, error) { return w.countEvents(ctx, q, more) },
		func() (bool, error) {
			return pagesUntil(ctx, q, bookedFrom, company, &w.Credit, more, func() { w.wrong(notBooked, w.Credit) })
		},
		func() (bool, error) {
			return pagesUntil(ctx, q, paidFrom, company, &w.Collection, more, func() { w.wrong(notPaid, w.Collection) })
		},
	} {
		if done, err = part(); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

// countEvents checks that there is an event with each number, and that its MAC is right.
func (w *walk) countEvents(ctx context.Context, q *db.DB, more func() bool) (bool, error) {
	archived, err := archiveOf(ctx, q, w.Ledger.Company)
	if err != nil {
		return false, err
	}
	for w.Events = max(w.Events, archived.last); w.Events < w.Ledger.Sequence; {
		if !more() {
			return false, nil
		}
		upTo := min(w.Events+countMost, w.Ledger.Sequence)
		n, err := w.checkEvents(ctx, q, w.Events+1, upTo)
		if err != nil {
			return false, err
		}
		if n != upTo-w.Events {
			now, err := archiveOf(ctx, q, w.Ledger.Company)
			if err != nil {
				return false, err
			}
			if now != archived { // kobo archive has removed events meanwhile
				archived, w.Events = now, max(w.Events, now.last)
				continue
			}
			w.wrong("there are %d events from %d to %d", n, w.Events+1, upTo)
		}
		w.Events = upTo
	}
	return true, nil
}

// wrong adds a finding, unless the walk has it already: a step begins with the last row of the step
// before. The result names at most 20 wrong rows.
func (w *walk) wrong(format string, args ...any) {
	i := Integrity{Company: w.Ledger.Company}
	i.wrong(format, args...)
	if len(w.Wrongs) < most && !slices.Contains(w.Wrongs, i.Wrongs[0]) {
		w.Wrongs = append(w.Wrongs, i.Wrongs[0])
	}
}

func (w *walk) save(ctx context.Context, q db.Querier) error {
	_, err := q.Exec(ctx, `
		INSERT INTO report_progress (company_id, verified_sequence, places, credit_id, walk, wrongs, walked_at, due_at)
		VALUES ($1, 0, '', '', $2, '', 0, 0)
		ON CONFLICT (company_id) DO UPDATE SET walk = excluded.walk`, w.Ledger.Company, encode(w))
	return err
}

// finish checks what is new since the walk began, and stores the findings of the walk. If there are
// none, everything up to now is verified. A part of it is enough if there is too much: the next
// check of the company continues there.
func (w *walk) finish(ctx context.Context, s *Service) ([]string, error) {
	company, d := w.Ledger.Company, s.db
	var p progress
	var found Integrity
	err := d.Snapshot(ctx, func(q db.Querier) (err error) {
		more, stop := within(ctx, walkStep)
		defer stop()
		p = progress{sequence: w.Ledger.Sequence, places: w.Ledger.Places, credit: w.Credit}.copy()
		found, _, err = p.check(ctx, q, company, s.clock.Now(), w.genuine(d.Signer(), ledger.TransferTable), more)
		return err
	})
	if err != nil {
		return nil, err
	}
	w.Ledger.Breaks = found.breaks
	if err := w.handOver(ctx, s.Broken); err != nil {
		return nil, err
	}
	wrongs := slices.Concat(w.Ledger.Wrongs, w.Wrongs, found.Wrongs)
	slices.Sort(wrongs)
	wrongs = slices.DeleteFunc(slices.Compact(wrongs), func(f string) bool { return slices.Contains(w.Accepted, f) })
	again := walkEvery
	if len(wrongs) > 0 {
		again = walkAgain
	}
	return wrongs, d.Tx(ctx, func(q db.Querier) error {
		if len(wrongs) == 0 {
			if err := p.save(ctx, q, company); err != nil {
				return err
			}
		} else if err := w.save(ctx, q); err != nil {
			return err
		}
		_, err := q.Exec(ctx, `UPDATE report_progress SET walk = '', wrongs = $2, walked_at = $3, due_at = $4 WHERE company_id = $1`,
			company, encode(wrongs), clock.Micros(w.At), clock.Micros(w.At.Add(again)))
		return err
	})
}

// checkMoved checks the new rows of the companies that have new events and no walk under way. It reports
// whether it has left companies for the next run.
func (s *Service) checkMoved(ctx context.Context) (rest bool, err error) {
	more, stop := within(ctx, walkStep/2)
	defer stop()
	moved, err := movedCompanies(ctx, s.db, s.clock.Now())
	for _, company := range moved {
		if !more() {
			return true, err
		}
		err = errors.Join(err, s.checkNew(ctx, company, more))
	}
	return len(moved) == walkMost, err
}

// checkNew checks the rows of a company that no check has read yet. If it finds a difference, a walk
// begins with the next run, and its findings are stored.
func (s *Service) checkNew(ctx context.Context, company string, more func() bool) error {
	ctx = db.WithLongTimeout(ctx)
	w, err := s.walkOf(ctx, company)
	if err != nil {
		return err
	}
	var p progress
	var found Integrity
	err = s.db.Snapshot(ctx, func(q db.Querier) (err error) {
		if p, err = progressOf(ctx, q, company); err == nil {
			found, _, err = p.check(ctx, q, company, s.clock.Now(), w.genuine(s.db.Signer(), ledger.TransferTable), more)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case found.Intact():
		return p.save(ctx, s.db, company)
	}
	w.Ledger.Breaks = found.breaks
	if err := w.handOver(ctx, s.Broken); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, `UPDATE report_progress SET due_at = 0 WHERE company_id = $1`, company)
	return err
}

// latestDue returns the latest time at which a walk can be due. A later one is that of a clock that was ahead, and counts as due.
func latestDue(now time.Time) int64 { return clock.Micros(now.Add(walkEvery + time.Hour)) }

// movedCompanies returns the companies with events that no check has read yet, and without a due walk or
// a finding of their last walk.
func movedCompanies(ctx context.Context, q db.Querier, now time.Time) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `
		SELECT h.company_id FROM ledger_head AS h JOIN report_progress AS p ON p.company_id = h.company_id
		WHERE p.due_at > $1 AND p.due_at <= $2 AND h.event_sequence > p.verified_sequence AND substr(p.wrongs, 1, 2) <> '["'
		ORDER BY h.company_id LIMIT $3`, clock.Micros(now), latestDue(now), walkMost)
}

// dueWalks returns the companies whose walk is due, those with an unfinished walk and those without
// any walk first.
func dueWalks(ctx context.Context, q db.Querier, now time.Time) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `
		SELECT h.company_id FROM ledger_head AS h LEFT JOIN report_progress AS p ON p.company_id = h.company_id
		WHERE coalesce(p.due_at, 0) <= $1 OR p.due_at > $2 ORDER BY coalesce(p.due_at, 0), h.company_id LIMIT $3`, clock.Micros(now), latestDue(now), walkMost)
}
