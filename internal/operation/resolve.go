package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// resolveJob returns the job that asks for the outcome of an operation.
func (o Operation) resolveJob() job.Job {
	return job.Job{Company: o.Company, Kind: ResolveJob, Subject: o.ID, Provider: o.Provider, RunAt: o.NextAt}
}

// Resolve runs a ResolveJob: it asks the provider once for the outcome of an operation, and
// writes the reply.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	o, err := s.Find(ctx, j.Company, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	now := s.clock.Now()
	switch {
	case o.State != Pending || o.NextAt.IsZero():
		return time.Time{}, nil
	case now.Before(o.NextAt) && !o.ahead(now):
		return o.NextAt, nil
	}
	return s.heard(ctx, o, s.requery(ctx, o))
}

// requery asks the provider for the outcome of an operation.
func (s *Service) requery(ctx context.Context, o Operation) provider.Answer {
	return s.counted(o, "requery", s.Calls.Start(), s.call(ctx, o, s.window, func(ctx context.Context) provider.Answer {
		return s.kinds[o.Kind].Requery(ctx, o)
	}))
}

// heard writes the reply to a requery, and returns the time of the next requery.
func (s *Service) heard(ctx context.Context, o Operation, a provider.Answer) (time.Time, error) {
	now, steady, asked := s.clock.Now(), s.steady.Since(), o
	a, err := s.held(ctx, o, o.ordered(a))
	if err != nil {
		return time.Time{}, err
	}
	o = o.polled(a, now, steady, s.gap())
	if err := s.differs(ctx, o, a); err != nil {
		return time.Time{}, err
	}
	switch {
	case a.Missing && (a.Unproven || o.ProviderReference != "") && o.gone(now, steady):
		if err := s.unproven(ctx, o); err != nil {
			return time.Time{}, err
		}
	case a.Missing && o.gone(now, steady):
		known, err := s.Repeated(ctx, o)
		if err != nil {
			return time.Time{}, err
		}
		if !known {
			return s.absent(ctx, o, a, asked)
		}
	}
	if a.Outcome != provider.Unknown {
		_, err := s.conclude(ctx, o, a, nil)
		return time.Time{}, err
	}
	var after Operation
	if a.Missing {
		if after, err = s.undecided(ctx, o, a, now, steady); err == nil {
			after, err = s.writeAbsence(ctx, o, after, asked)
		}
	} else {
		after, err = s.write(ctx, asked, func(o Operation) (Operation, error) {
			return s.undecided(ctx, o.polled(a, now, steady, s.gap()), a, now, steady)
		}, nil)
	}
	if err == nil && after.Attempt != o.Attempt && a.Found { // the request has moved the operation meanwhile
		err = s.Late(ctx, o.attempt(), a)
	}
	if err != nil || after.State != Pending {
		return time.Time{}, err
	}
	return after.NextAt, nil
}

// polled returns the operation after a requery at now with this reply. Parameter gap is how far apart absences lie.
func (o Operation) polled(a provider.Answer, now, steady time.Time, gap time.Duration) Operation {
	if a.Missing {
		o = o.missed(now, steady, gap)
	} else {
		o.Missing = 0
	}
	o.Polls++
	o.AskedAt = now
	return o
}

// undecided returns operation o with a reply without an outcome to a requery at now, and the time of the next
// requery. If there is none, it opens a case first.
func (s *Service) undecided(ctx context.Context, o Operation, a provider.Answer, now, steady time.Time) (Operation, error) {
	after := o.answered(a, now)
	after.NextAt = after.nextPoll(now, steady, s.gap())
	if apart := now.Add(unsentGap); a.Code == provider.CodeNotSent && !after.NextAt.IsZero() && after.NextAt.Before(apart) {
		after.NextAt = apart
	}
	if after.NextAt.IsZero() {
		return after, s.tooOld(ctx, o, a)
	}
	return after, nil
}

// gap returns how far apart in true time the requeries lie whose reply "no such reference" counts.
func (s *Service) gap() time.Duration {
	if s.Simulated {
		return 0
	}
	return graceGap
}

// tooOld opens a case about an operation without an outcome after 72 hours. The case must be opened
// before the row is written. If the program stops in between, the job asks the provider again, and
// does not open the case a second time. A different amount has its own case already.
func (s *Service) tooOld(ctx context.Context, o Operation, a provider.Answer) error {
	if a.Code == provider.CodeAmount {
		return nil
	}
	return s.unresolved(ctx, o, o.since(), "no outcome after 72 hours; last answer: "+a.Code)
}

// unresolved opens an Unresolved case about an operation, unless there is one since a time, open or resolved. An
// earlier case asks something else: whether the card with the same id was made, or what became of the operation
// before it FAILED.
func (s *Service) unresolved(ctx context.Context, o Operation, since time.Time, detail string) error {
	c := Case{Company: o.Company, Subject: o.ID, Reason: Unresolved, Detail: detail}
	last, err := s.lastCase(ctx, o.Company, o.ID, Unresolved)
	switch {
	case errors.Is(err, db.ErrNone):
	case err != nil:
		return err
	case !last.CreatedAt.Before(since):
		return nil
	default:
		c.Turn = last.Turn + 1
	}
	return s.Open(ctx, c)
}

// unproven opens a case about an operation that its provider does not find, if the provider may be
// unable to look up our reference, if it has given the operation an id of its own before, or if an earlier
// attempt may have succeeded. The operation stays PENDING, and the provider is asked again.
func (s *Service) unproven(ctx context.Context, o Operation) error {
	late, err := s.late(ctx, o)
	if err != nil {
		return err
	}
	detail := "the provider does not find our reference, but it is not proven that the provider looks up our references: ask the provider about this operation"
	if o.ProviderReference != "" {
		detail = fmt.Sprintf("%s does not find our reference, but it has answered the request with its own id %s: ask the provider about this operation", o.Provider, o.ProviderReference)
	}
	if late {
		detail = "the provider does not find our reference" + earlier
	}
	return s.unresolved(ctx, o, o.since(), detail)
}

// differs opens a case if the provider's reply reports a different amount than the order. No money
// moves.
func (s *Service) differs(ctx context.Context, o Operation, a provider.Answer) error {
	if a.Code != provider.CodeAmount {
		return nil
	}
	return s.OpenCase(ctx, o.Company, o.ID, OrderAmount,
		fmt.Sprintf("the order is for %s, but the provider reports that it sold %s", o.cost().Decimal(), a.Sold.Decimal()))
}

// absent sets an operation to FAILED because its provider has no record of it. The same commit
// adds the RecheckJob. It returns the time of the next requery if another worker has asked meanwhile.
func (s *Service) absent(ctx context.Context, o Operation, a provider.Answer, asked Operation) (time.Time, error) {
	a.Outcome, a.Message = provider.Rejected, noRecord
	after := o.concluded(a, s.clock.Now())
	after.NextAt = after.UpdatedAt.Add(firstRecheck)
	now, err := s.writeAbsence(ctx, o, after, asked)
	if err != nil || now.State != Pending {
		return time.Time{}, err
	}
	return now.NextAt, nil
}

// writeAbsence writes the reply "no such reference", if the operation is still as it was when the provider was
// asked. Otherwise another worker or an operator has asked meanwhile, perhaps later, and the provider may have
// found the reference. Then the reply does not count. A worker whose lease is lost may wait for its reply that long.
func (s *Service) writeAbsence(ctx context.Context, o, after, asked Operation) (Operation, error) {
	u, err := s.replyUnit(ctx, o, after, &asked)
	if err != nil {
		return o, err
	}
	err = s.book.Commit(ctx, u)
	if !ledger.Is(err, ledger.Moved, operations.Table) {
		return after, err
	}
	now, err := s.Find(ctx, o.Company, o.ID)
	if err != nil || now.State == Pending {
		return now, err
	}
	return s.overtaken(ctx, o, after)
}

// Notified processes an outcome that the provider sent without being asked. A definite outcome
// counts like the reply to a requery. An unknown outcome changes nothing.
func (s *Service) Notified(ctx context.Context, company, operationID string, a provider.Answer) (Operation, error) {
	o, err := s.Find(ctx, company, operationID)
	if err != nil {
		return o, err
	}
	return s.Replied(ctx, o, a)
}

// Replied does the same as Notified with the provider's reply about operation o, as the caller has
// read o before the caller asked. If the operation has moved to another provider meanwhile, the reply
// is about an attempt that has ended, and decides nothing.
func (s *Service) Replied(ctx context.Context, o Operation, a provider.Answer) (Operation, error) {
	if a.Outcome == provider.Unknown {
		return o, nil
	}
	if o.State != Pending {
		return s.overtaken(ctx, o, o.concluded(a, s.clock.Now()))
	}
	a = o.ordered(a)
	if a.Outcome == provider.Unknown {
		return o, s.differs(ctx, o, a)
	}
	a, err := s.held(ctx, o, a)
	if err != nil || a.Outcome == provider.Unknown {
		return o, err
	}
	return s.conclude(ctx, o, a, nil)
}
