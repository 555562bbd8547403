package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
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
	case now.Before(o.NextAt):
		return o.NextAt, nil
	}
	return s.heard(ctx, o, s.requery(ctx, o))
}

// requery asks the provider for the outcome of an operation.
func (s *Service) requery(ctx context.Context, o Operation) provider.Answer {
	return s.counted(o, "requery", s.call(ctx, o, s.window, func(ctx context.Context) provider.Answer {
		return s.kinds[o.Kind].Requery(ctx, o)
	}))
}

// heard writes the reply to a requery, and returns the time of the next requery.
func (s *Service) heard(ctx context.Context, o Operation, a provider.Answer) (time.Time, error) {
	now := s.clock.Now()
	o.Polls++
	o.AskedAt = now
	if a.Missing {
		o.Missing++
	} else {
		o.Missing = 0
	}
	if a.Missing && o.gone(now) {
		known, err := s.Repeated(ctx, o)
		if err != nil {
			return time.Time{}, err
		}
		if !known {
			return time.Time{}, s.absent(ctx, o, a)
		}
	}
	if a.Outcome != provider.Unknown {
		_, err := s.conclude(ctx, o, a, nil)
		return time.Time{}, err
	}
	after := o.answered(a, now)
	after.NextAt = after.nextPoll(now)
	if after.NextAt.After(o.CalledUntil.Add(tooOld)) {
		after.NextAt = time.Time{}
		// The case must be opened before the row is written. If the program stops in between, the
		// job asks the provider again, and does not open the case a second time.
		if err := s.OpenCase(ctx, after.Company, after.ID, Unresolved, "no outcome after 72 hours; last answer: "+a.Code); err != nil {
			return time.Time{}, err
		}
	}
	after, err := s.write(ctx, o, after, nil)
	if err != nil || after.State != Pending {
		return time.Time{}, err
	}
	return after.NextAt, nil
}

// absent sets an operation to FAILED because its provider has no record of it. The same commit
// adds the RecheckJob.
func (s *Service) absent(ctx context.Context, o Operation, a provider.Answer) error {
	a.Outcome, a.Message = provider.Rejected, "The provider has no record of this request"
	after := o.concluded(a, s.clock.Now())
	after.NextAt = after.UpdatedAt.Add(firstRecheck)
	_, err := s.write(ctx, o, after, nil)
	return err
}

// Notified processes an outcome that the provider sent without being asked. A definite outcome
// counts like the reply to a requery. An unknown outcome changes nothing.
func (s *Service) Notified(ctx context.Context, company, operationID string, a provider.Answer) (Operation, error) {
	o, err := s.Find(ctx, company, operationID)
	if err != nil || a.Outcome == provider.Unknown {
		return o, err
	}
	if o.State == Pending {
		return s.conclude(ctx, o, a, nil)
	}
	return s.overtaken(ctx, o, o.concluded(a, s.clock.Now()))
}
