package torture

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/operation"
)

// retry is the pause before something is tried again.
const retry = 500 * time.Millisecond

// These are the moves of the clock after the load. With the near ones requeries and the poll of credits become due, and with the far
// ones the rechecks of failed payments, the daily comparison with the bank's statement, and the cases of payments without an outcome.
var (
	near = []time.Duration{
		10 * time.Second, 30 * time.Second, 2 * time.Minute, 4 * time.Minute, 6 * time.Minute, 10 * time.Minute, 15 * time.Minute,
		30 * time.Minute, time.Hour, 2 * time.Hour,
	}
	far = []time.Duration{22 * time.Hour, 6 * time.Minute, time.Hour, 23 * time.Hour, 23 * time.Hour, 2 * time.Hour}
)

// settle lets everything come to its end: it sends again what was not answered, and moves the clock.
// It returns the cases that operators have decided.
func (w *world) settle(ctx context.Context, clients []*client, c *copier, say func(string)) (found []Case, err error) {
	say("settling: orders without an answer")
	w.hook.settle()
	w.forgotten.Store(0) // those that moves were allowed after are given up by themselves
	w.repeat(ctx, clients)
	if w.lives() > 0 { // no company repeats an order from before the restore any more
		if err = w.endHold(ctx, c); err != nil {
			return nil, err
		}
	}
	w.hook.trustNewest()
	w.reuse(ctx)
	say("settling: requeries")
	if err = w.pass(ctx, near...); err != nil {
		return nil, err
	}
	if err = w.catchUp(ctx); err != nil {
		return nil, err
	}
	say("settling: rechecks and cases")
	for _, by := range far {
		if err = w.passCompared(ctx, by); err != nil {
			return nil, err
		}
		if err = w.recheck(ctx); err != nil {
			return nil, err
		}
	}
	// Now the payments without an outcome have cases. After the decisions, the statement is compared once more.
	if err = w.judge(ctx); err != nil {
		return nil, err
	}
	if err = w.passCompared(ctx, 24*time.Hour); err != nil {
		return nil, err
	}
	say("settling: what still waits")
	const rounds = 20
	seen := make([]Books, len(w.companies))
	for range rounds {
		quiet, err := w.quiet(ctx, seen)
		if err != nil {
			return nil, err
		}
		if quiet {
			break
		}
		if err = w.advance(ctx, time.Hour); err != nil {
			return nil, err
		}
	}
	if err = w.judge(ctx); err != nil {
		return nil, err
	}
	return w.cases(ctx, "OPEN", "RESOLVED")
}

// explain adds the timeline of the payment to each case that the run does not expect.
func (w *world) explain(ctx context.Context, f Facts, found []Case) error {
	judge := (&History{Facts: f, Calls: w.calls(), Breaks: w.breaks()}).caseJudge()
	for i, c := range found {
		if judge.finding(c) == "" {
			continue
		}
		a, err := w.by.call(ctx, 0, http.MethodGet, "timeline/"+c.Subject, nil)
		if err != nil {
			return err
		}
		if a.status == http.StatusOK { // a line of a statement has none
			found[i].Timeline = a.body
		}
	}
	return nil
}

// repeat sends each order again that got no answer, until it has one, all clients at once. Companies also repeat some orders whose answers are in a lost time.
func (w *world) repeat(ctx context.Context, clients []*client) {
	heard, h := map[subject]bool{}, &History{Calls: w.calls(), Breaks: w.breaks()}
	for _, c := range h.Calls {
		if c.State != unknown && c.Kind != look && !(h.mayBeLost(c) && repeats(c.Key)) || h.allowedSince(c) {
			heard[subject{c.Company, c.Key}] = true
		}
	}
	const tries = 30
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			for _, o := range c.orders {
				for n := 0; n < tries && !heard[subject{o.call.Company, o.call.Key}]; n++ {
					if said := c.post(ctx, o); said.State != unknown || !wait(ctx, retry) {
						break
					}
				}
			}
		})
	}
	all.Wait()
}

// repeats reports whether a company sends a lost order again under its key. It gives up the others.
func repeats(key string) bool { return crc32.ChecksumIEEE([]byte(key))%2 == 0 }

// pass moves the clock several times.
func (w *world) pass(ctx context.Context, moves ...time.Duration) error {
	for _, by := range moves {
		if err := w.advance(ctx, by); err != nil {
			return err
		}
	}
	return nil
}

// passCompared moves the clock, and waits until the statement of each bank has been compared within the last day of the clock. A further move would end
// the lease of a comparison that is under way. The comparison of many thousand lines takes minutes, and it looks back for three days only.
func (w *world) passCompared(ctx context.Context, by time.Duration) error {
	if err := w.advance(ctx, by); err != nil {
		return err
	}
	now, err := w.clock(ctx)
	if err != nil {
		return err
	}
	const patience = 20 * time.Minute
	var last []compared
	for began := time.Now(); time.Since(began) < patience; {
		var list struct{ Data []compared }
		if err := w.by.data(ctx, 0, http.MethodGet, "reconciliations?pageSize=20&after=", nil, &list); err != nil {
			return err
		}
		last = list.Data
		done := map[string]bool{}
		for _, c := range last {
			done[c.Provider] = done[c.Provider] || !c.To.IsZero() && now.Sub(c.At) <= 24*time.Hour
		}
		if done[firstBank] && done[furtherBank] {
			return nil
		}
		if !wait(ctx, retry) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the statement of a bank was not compared within %s; at %s the last comparisons were %+v", patience, now, last)
}

// compared is a comparison of the bank's statement, as operators read it.
type compared struct {
	Provider string // the bank
	At       time.Time
	To       time.Time // zero if the comparison failed
	Trouble  string    // why it failed
}

// catchUp waits until the programs have done the work that the moves of the clock made due. On a busy machine this takes longer than a move
// waits. A payment that is still open gets a case later, which the run does not expect.
//
// Two kinds of payments may stay open. Their provider leaves some without an outcome. Some of a lost time have been repeated, and their
// provider does not show them. So the wait for those of a lost time is shorter.
//
// Requeries are hourly by then, so about every third move makes one due. The pause after a move is in real time, because a program that has
// read too often in vain from a provider reads nothing from it for some real seconds.
func (w *world) catchUp(ctx context.Context) error {
	const longest, move, rest, share = 6 * time.Minute, 20 * time.Minute, 6 * time.Second, 8
	h := &History{Calls: w.calls(), Breaks: w.breaks()}
	unended, lost := w.withoutOutcome(), h.lostPayments()
	forLost := min(w.history.Run.Duration/share, longest)
	for began := time.Now(); time.Since(began) < longest; {
		left, ofLost, err := w.stillOpen(ctx, unended, lost)
		if err != nil {
			return err
		}
		if left == 0 && (ofLost == 0 || time.Since(began) > forLost) {
			return nil
		}
		if err := w.advance(ctx, move); err != nil {
			return err
		}
		wait(ctx, rest)
	}
	return nil
}

// stillOpen counts the open payments that their provider can say something about. Those that a restore may have lost count apart.
func (w *world) stillOpen(ctx context.Context, unended map[string]bool, lost map[string]Call) (left, ofLost int, err error) {
	said, err := w.executions(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range w.companies {
		var b Books
		if err := readOpen(ctx, c, &b); err != nil {
			return 0, 0, err
		}
		for _, reference := range b.Open {
			_, may := lost[reference]
			switch {
			case unended[reference], slices.Contains(said.moved, reference):
			case may:
				ofLost++
			default:
				left++
			}
		}
	}
	return left, ofLost, nil
}

// queue is a queue of jobs, as operators read it.
type queue struct {
	Kind   string
	Due    int       // the jobs whose time has come and that no program runs
	NextAt time.Time // zero if the queue is empty
}

// recheck gives the rechecks of failed payments the real time that they need after a far move of the clock. Thousands become due at the same
// moment of Kobo's clock, and many of them run into time limits or find a provider that may not be asked for some real seconds. Those are
// repeated after a few seconds of Kobo's clock. A far move at once would skip these repetitions.
func (w *world) recheck(ctx context.Context) error {
	const patience, rest, soon, least = 2 * time.Minute, 6 * time.Second, 40 * time.Minute, 30 * time.Second
	for began := time.Now(); time.Since(began) < patience; {
		now, err := w.clock(ctx)
		if err != nil {
			return err
		}
		var list struct{ Queues []queue }
		if err := w.by.data(ctx, 0, http.MethodGet, "jobs", nil, &list); err != nil {
			return err
		}
		due, next := 0, time.Time{}
		for _, q := range list.Queues {
			if q.Kind == operation.RecheckJob || q.Kind == operation.AttemptJob {
				due += q.Due
				if next.IsZero() || !q.NextAt.IsZero() && q.NextAt.Before(next) {
					next = q.NextAt
				}
			}
		}
		switch {
		case due > 0 || !next.IsZero() && next.Before(now): // some wait, or are under way
		case next.IsZero() || next.Sub(now) > soon:
			return nil
		default:
			wait(ctx, rest)
			if err := w.advance(ctx, max(next.Sub(now), least)); err != nil {
				return err
			}
		}
		if !wait(ctx, retry) {
			return ctx.Err()
		}
	}
	return nil
}

// clock returns the time of Kobo's clock.
func (w *world) clock(ctx context.Context) (time.Time, error) {
	var now struct{ Now time.Time }
	a, err := w.fleet.send(ctx, http.MethodGet, "/sandbox/clock", nil)
	if err == nil {
		err = a.into(&now)
	}
	return now.Now, err
}

func (w *world) advance(ctx context.Context, by time.Duration) error {
	return w.fleet.ok(ctx, func() (answer, error) {
		return w.fleet.send(ctx, http.MethodPost, "/sandbox/clock", map[string]string{"advance": by.String()})
	}, nil)
}

// quiet reports whether no operation is open, all credits are booked and all webhooks have arrived. It reads what is open or new since its last
// call, and no other list, because those of a long run are long. The books keep what it has read of each company.
func (w *world) quiet(ctx context.Context, seen []Books) (bool, error) {
	var f Facts
	booked := map[string]bool{}
	for i, c := range w.companies {
		b := &seen[i]
		b.Reference, b.First, b.Open = c.reference, c.firstEvent, nil
		if err := readOpen(ctx, c, b); err != nil || len(b.Open) > 0 {
			return false, err
		}
		if err := readEvents(ctx, c, b); err != nil {
			return false, err
		}
		for _, e := range b.Events {
			booked[e.Subject] = booked[e.Subject] || isCredit(e.Kind)
		}
		f.Companies = append(f.Companies, *b)
	}
	said, err := w.executions(ctx)
	if err != nil || slices.ContainsFunc(said.all, func(e Execution) bool { return e.Kind == credit && !booked[e.Reference] }) {
		return false, err
	}
	if f.Messages, f.Forged, err = w.hook.messages(); err != nil {
		return false, err
	}
	var r Result
	webhooks(&History{Facts: f, Breaks: w.breaks()}, &r)
	return len(r.Findings) == 0, nil
}
