package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// RecheckJob is the kind of job that rechecks an operation which FAILED because its provider had
// no record of it.
const RecheckJob = "operation.recheck"

// A provider may carry out a request late, after it has replied "no such reference" and the
// operation has failed. So the provider is asked again when these times have passed since the
// failure: firstRecheck and LastRecheck.
const (
	firstRecheck = time.Hour
	// LastRecheck is the age of the failure at which the last recheck begins.
	LastRecheck = 24 * time.Hour
	// A last recheck that could not be sent is repeated after unsentRecheck, for at most unsentLimit. A provider that was not asked has not said anything.
	unsentRecheck, unsentLimit = 5 * time.Minute, 24 * time.Hour
)

// Recheck runs a RecheckJob: it asks the provider once more and writes the reply. A confirmed reply
// contradicts the refund, so it opens a case and moves no money. After a reply without an outcome,
// Recheck runs again on the resolver's schedule. After 72 hours it opens a case, and operators
// decide.
func (s *Service) Recheck(ctx context.Context, j job.Job) (next time.Time, err error) {
	o, err := s.Find(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case o.State != Failed || o.NextAt.IsZero():
		return time.Time{}, nil
	case s.clock.Now().Before(o.NextAt):
		return o.NextAt, nil
	}
	answer := s.requery(ctx, o)
	now := s.clock.Now()
	after := o
	after.Polls++
	if answer.Code != provider.CodeNotSent { // otherwise nobody has asked
		after.AskedAt = now
	}
	after.NextAt = o.recheckAfter(answer, now)
	// The case must be opened before the row is written. If the program stops in between, the job
	// asks the provider again, and does not open the case a second time.
	if err := s.doubt(ctx, o, after.NextAt, answer); err != nil {
		return time.Time{}, err
	}
	err = s.book.Commit(ctx, after.rechecked(o, answer, now))
	if ledger.Is(err, ledger.Moved) {
		return now, nil // another worker has changed the row, so the job runs again and reads the new row
	}
	return after.NextAt, err
}

// doubt opens a case after a confirmed reply, or after 72 hours without a definite reply.
func (s *Service) doubt(ctx context.Context, o Operation, next time.Time, a provider.Answer) error {
	switch {
	case a.Outcome != provider.Unknown:
		_, err := s.overtaken(ctx, o, o.concluded(a, s.clock.Now()))
		return err
	case next.IsZero() && !a.Missing:
		return s.unresolved(ctx, o, o.UpdatedAt,
			"the operation FAILED since the provider had no record of it; asked again for 72 hours, the provider said nothing definite; last answer: "+a.Code)
	}
	return nil
}

// recheckAfter returns the time of the next recheck after a reply at now. It returns the zero
// time after the last recheck. The operation's UpdatedAt is the time of the failure. If this recheck was
// planned before the last one, but is so late that it would be the last, because the clock has jumped or
// no program was up, there is one more, whatever the reply. After a reply without an outcome, the next one
// would otherwise be the only one. The first recheck that was sent is not the last either.
func (o Operation) recheckAfter(a provider.Answer, now time.Time) time.Time {
	first, last := o.UpdatedAt.Add(firstRecheck), o.UpdatedAt.Add(LastRecheck)
	early := now.Before(last)
	switch {
	case a.Outcome != provider.Unknown:
		return time.Time{}
	case a.Missing && early:
		return last
	case !early && o.NextAt.Before(last), a.Missing && !o.AskedAt.After(o.UpdatedAt):
		return now.Add(LastRecheck - firstRecheck)
	case a.Missing:
		return time.Time{}
	case early:
		if next := turn(first, now); next.Before(last) {
			return next
		}
		return last
	}
	if next := turn(last, now); !next.After(last.Add(tooOld)) {
		return next
	}
	if a.Code == provider.CodeNotSent && now.Before(last.Add(tooOld+unsentLimit)) {
		return now.Add(unsentRecheck)
	}
	return time.Time{}
}

// turn returns the first time after now on the resolver's schedule. The schedule starts at began.
func turn(began, now time.Time) time.Time {
	for _, age := range ages {
		if at := began.Add(age); at.After(now) {
			return at
		}
	}
	hourly := began.Add(ages[len(ages)-1])
	return hourly.Add(now.Sub(hourly).Truncate(time.Hour) + time.Hour)
}

// rechecked returns the unit that writes a recheck's reply to the history. The operation keeps
// its state, its message and the time of its outcome.
func (o Operation) rechecked(was Operation, a provider.Answer, now time.Time) ledger.Unit {
	said := o
	said.Message, said.ProviderReference, said.Token = "", "", ""
	u := ledger.For(o.Company)
	u.Transition(operations.Record(o), string(Failed)).Only("polls", "asked_at", "next_at").Expect("polls", was.Polls)
	u.Append(said.answered(a, now).lastAnswer())
	return u
}
