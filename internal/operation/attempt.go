package operation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Attempt is one try to carry out an operation at one provider. An operation has rows of attempts
// only after it has moved to a second provider. Before that, the row of the operation describes its
// only attempt.
type Attempt struct {
	Company     string       `db:"company_id,key"`
	OperationID string       `db:"operation_id,key"`
	Number      int64        `db:"attempt,key"` // from 1
	Provider    string       `db:"provider"`
	Reference   string       `db:"reference"` // our reference at this provider
	Cost        money.Kobo   `db:"cost_kobo"` // what this provider takes; the company pays Operation.Amount in any case
	State       AttemptState `db:"state,state"`
	Outcome     string       `db:"outcome,changes"`
	Code        string       `db:"code,changes"`
	Message     string       `db:"message,changes"`
	CreatedAt   time.Time    `db:"created_at"`
	EndedAt     time.Time    `db:"ended_at,changes"`
}

// AttemptState is the state of an attempt.
type AttemptState string

// The states of an attempt. An operation that has moved has one attempt that is not Unstarted, and
// this attempt is its last.
const (
	AttemptOpen      AttemptState = "OPEN"      // the outcome of the operation is not known
	AttemptUnstarted AttemptState = "UNSTARTED" // the provider definitely never started it
	AttemptEnded     AttemptState = "ENDED"     // the operation has its outcome
)

// Try is what a further attempt needs.
type Try struct {
	Provider string
	Kind     string        // the kind of product, for the metrics
	Cost     money.Kobo    // what the provider takes
	Lasts    time.Duration // the longest time of the call
	Call     func(ctx context.Context, o Operation) provider.Answer
}

// Next returns the try that follows after the last attempt of o has definitely never started. It
// returns false if there is none.
type Next = func(ctx context.Context, o Operation) (Try, bool)

// OurReference returns the reference under which the last attempt is sent to its provider.
func (o Operation) OurReference() string { return cmp.Or(o.Last.Reference, o.ID) }

// AttemptReference returns the reference of the attempt with this number, from 1. It is the same in every
// database, also if this database does not know the attempt.
func (o Operation) AttemptReference(number int64) string {
	if number == 1 {
		return o.ID
	}
	return Reference(o.Company, o.Kind+" attempt "+strconv.FormatInt(number, 10), o.ID)
}

// Refundable reports whether a reply to a requery refunds the operation: the provider
// rejected it, or does not know it after the grace period.
func (o Operation) Refundable(a provider.Answer) bool {
	return o.State == Pending && (a.Outcome == provider.Rejected || a.Missing)
}

// cost returns what the provider of the last attempt takes.
func (o Operation) cost() money.Kobo { return cmp.Or(o.Last.Cost, o.Amount) }

// attempt returns the last attempt as a row, also if the operation has not moved.
func (o Operation) attempt() Attempt {
	if o.Attempt > 0 {
		return o.Last
	}
	return Attempt{
		Company: o.Company, OperationID: o.ID, Number: 1, Provider: o.Provider, Reference: o.ID, Cost: o.Amount, CreatedAt: o.CreatedAt,
	}
}

// end returns the attempt with its end.
func (a Attempt) end(state AttemptState, outcome, code, message string, at time.Time) Attempt {
	a.State, a.Outcome, a.Code, a.Message, a.EndedAt = state, outcome, code, message, at
	return a
}

// try calls the provider, and then the next providers. It moves to the next provider only if the
// last one has definitely never started the operation. It returns the operation with its last
// attempt and that attempt's reply.
//
// If the commit of a move fails, the reply stays that of the attempt before. If that commit happened
// all the same, the ledger refuses the reply, because the operation has a later attempt. The
// resolver then asks the provider of the later attempt.
func (s *Service) try(ctx context.Context, o Operation, call func(ctx context.Context) provider.Answer, next Next) (Operation, provider.Answer) {
	a := s.first(ctx, o, call)
	for next != nil && a.Unstarted && a.Outcome == provider.Rejected {
		t, ok := next(ctx, o)
		if !ok || s.left(o) < t.Lasts {
			break
		}
		moved, err := s.move(ctx, o, a, t)
		if err != nil {
			s.log.Warn("an operation could not move to another provider", "company", o.Company, "operation", o.ID, "provider", t.Provider, "error", err)
			if ledger.Is(err, ledger.Moved, operations.Table) {
				a.Outcome, a.Unstarted = provider.Unknown, false // a poll contradicts the refusal, so the resolver decides
			}
			break
		}
		o, a = moved, notSent
		if s.left(o) >= t.Lasts { // the commit took time
			a = s.first(ctx, o, func(ctx context.Context) provider.Answer { return t.Call(ctx, o) })
		}
	}
	return o, a
}

// left returns how much of the operation's window is left: by the clock, or by Go's timer if that is
// less. The timer stands still while the machine sleeps, and the clock may be set back.
func (s *Service) left(o Operation) time.Duration {
	now := s.clock.Now()
	return min(o.CalledUntil.Sub(now), o.CalledUntil.Round(0).Sub(now.Round(0)))
}

// move commits the intent of the next attempt. The same unit ends the last attempt, and no money
// moves.
func (s *Service) move(ctx context.Context, o Operation, a provider.Answer, t Try) (Operation, error) {
	now, last := s.clock.Now(), o.attempt()
	moved := o
	moved.Provider, moved.Attempt, moved.UpdatedAt = t.Provider, last.Number+1, now
	moved.Last = Attempt{
		Company: o.Company, OperationID: o.ID, Number: moved.Attempt, Provider: t.Provider, Cost: t.Cost, State: AttemptOpen, CreatedAt: now,
		Reference: o.AttemptReference(moved.Attempt),
	}
	u := ledger.For(o.Company)
	u.OpenAccounts(ledger.Account{ID: s.kinds[o.Kind].Route(moved).Provider, Floor: money.NoFloor})
	u.Transition(operations.Record(moved), string(Pending)).Expect("attempt", o.Attempt).
		Expect("polls", o.Polls) // a poll may have found the last attempt at its provider
	ended := attempts.Record(last.end(AttemptUnstarted, a.Outcome.String(), a.Code, a.Message, now))
	if o.Attempt > 0 {
		u.Transition(ended, string(AttemptOpen))
	} else {
		u.Insert(ended)
	}
	u.Insert(attempts.Record(moved.Last))
	u.Remove(job.Row(o.Company, ResolveJob, o.ID))
	u.Append(moved.resolveJob().For(o.Company)) // it names the new provider
	if a.Code != provider.CodeNotSent {
		u.Append(job.Job{Kind: AttemptJob, Subject: last.Reference, Provider: last.Provider, RunAt: now.Add(firstRecheck)}.For(o.Company))
	}
	u.Then(func() { s.moves.WithLabelValues(t.Kind, o.Provider, t.Provider).Inc() })
	return moved, s.book.Commit(ctx, u)
}

// endAttempt adds to the unit of an outcome that the last attempt has ended.
func (o Operation) endAttempt(u *ledger.Unit) {
	if o.Attempt > 0 {
		u.Transition(attempts.Record(o.Last.end(AttemptEnded, o.Outcome, o.Code, o.Message, o.UpdatedAt)), string(AttemptOpen))
	}
}

// AttemptJob is the kind of job that asks a provider again about an attempt that had definitely never
// started there. Its subject is the attempt's reference. The provider may have refused the attempt and
// carry it out late, while the operation went on at a different provider.
const AttemptJob = "operation.attempt"

// AttemptCheck returns the time of the next question about an attempt that had definitely never started
// there, after the provider's reply at now. The provider is asked an hour and a day after the refusal. A
// reply without an outcome is followed by another question after an hour. AttemptCheck returns false if
// it was the last one: after 72 hours of such replies, or a day after the refusal. If the last question was not sent,
// nobody has asked, so AttemptCheck repeats it for a day more.
//
// Parameter due is the time for which this question was planned. If it was planned before the last one, but is so late that it would
// be the last, because the clock has jumped or no program was up, there is one more, whatever the reply.
// After a reply without an outcome, the next one would otherwise be the only one.
func (a Attempt) AttemptCheck(said provider.Answer, due, now time.Time) (next time.Time, more bool) {
	last, hour := a.EndedAt.Add(LastRecheck), now.Add(time.Hour)
	no := said.Outcome == provider.Rejected || said.Missing
	switch {
	case due.Before(last) && !now.Before(last):
		return now.Add(LastRecheck - firstRecheck), true
	case no, now.Before(last) && hour.After(last):
		return last, now.Before(last)
	case said.Code == provider.CodeNotSent && !now.Before(last.Add(tooOld)):
		return now.Add(unsentRecheck), now.Before(last.Add(tooOld + unsentLimit))
	}
	return hour, now.Before(last.Add(tooOld))
}

// FirstCheck returns the time of the first question about an attempt that had definitely never started.
func (a Attempt) FirstCheck() time.Time { return a.EndedAt.Add(firstRecheck) }

// Late opens a case, because a provider reports an attempt that had definitely never started. The
// operation went on at a different provider, so both may have carried it out. No money moves. If a case
// about the same attempt reports the same outcome, Late opens none. Operators thus see a report that is
// worse than the report of an earlier case.
func (s *Service) Late(ctx context.Context, t Attempt, a provider.Answer) error {
	said := fmt.Sprintf("attempt %d at %s (%s) ended as never started, but %s now reports it as %s", t.Number, t.Provider, t.Reference, t.Provider, a.Outcome)
	earlier, err := s.casesAbout(ctx, t.Company, t.OperationID, LateAttempt)
	if err != nil || slices.ContainsFunc(earlier, func(c Case) bool { return strings.HasPrefix(c.Detail, said) }) {
		return err
	}
	return s.Open(ctx, Case{
		Company: t.Company, Subject: t.OperationID, Reason: LateAttempt, Turn: int64(len(earlier)), Detail: said + " (" + a.Code + ")",
	})
}

// late reports whether a LateAttempt case about the operation is open.
func (s *Service) late(ctx context.Context, o Operation) (bool, error) {
	if o.Attempt == 0 {
		return false, nil
	}
	all, err := s.casesAbout(ctx, o.Company, o.ID, LateAttempt)
	return slices.ContainsFunc(all, func(c Case) bool { return c.State == Open }), err
}

// earlier is the end of the detail of a case about an operation whose refund is held.
const earlier = ", but an earlier attempt may have succeeded: see the case " + string(LateAttempt)

// held leaves a refund to operators while a LateAttempt case about the operation is open, because the
// first provider may have carried the operation out. It then returns the reply without its outcome, and
// opens a case about a rejection. The caller opens the case about a missing reference (see unproven).
func (s *Service) held(ctx context.Context, o Operation, a provider.Answer) (provider.Answer, error) {
	if a.Outcome != provider.Rejected && !a.Missing {
		return a, nil
	}
	late, err := s.late(ctx, o)
	if err == nil && !late {
		return a, nil
	}
	if err == nil && a.Outcome == provider.Rejected {
		err = s.OpenCase(ctx, o.Company, o.ID, Unresolved, fmt.Sprintf("%s did not carry out attempt %d (%s)", o.Provider, o.Attempt, a.Code)+earlier)
	}
	a.Outcome, a.Unproven = provider.Unknown, true
	return a, err
}
