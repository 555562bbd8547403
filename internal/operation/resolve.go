package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/provider"
)

// resolveJob is the job that follows an operation to its outcome.
func (o Operation) resolveJob() job.Job {
	return job.Job{Company: o.Company, Kind: ResolveJob, Subject: o.ID, Provider: o.Provider, RunAt: o.NextAt}
}

// Resolve is the work of a ResolveJob: it asks once what became of an operation
// and writes down what it heard.
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

// requery is one question about what became of an operation.
func (s *Service) requery(ctx context.Context, o Operation) provider.Answer {
	return s.call(ctx, o, s.window, func(ctx context.Context) provider.Answer {
		return s.kinds[o.Kind].Requery(ctx, o)
	})
}

// heard writes down the answer to a poll and says when the next one is due.
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
	after := o.noted(a, now)
	after.NextAt = after.nextPoll(now)
	if after.NextAt.After(o.CalledUntil.Add(tooOld)) {
		after.NextAt = time.Time{}
		// The case first: if the program stops in between, the job asks once
		// more and finds its case there.
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

// absent writes down that an operation FAILED since its provider has no record of
// it. The outcome's own commit has the job that asks again (see RecheckJob).
func (s *Service) absent(ctx context.Context, o Operation, a provider.Answer) error {
	a.Outcome, a.Message = provider.Rejected, "The provider has no record of this request"
	after := o.concluded(a, s.clock.Now())
	after.NextAt = after.UpdatedAt.Add(firstRecheck)
	_, err := s.write(ctx, o, after, nil)
	return err
}

// Notified takes what a provider said of its own accord. It counts like the
// answer to a poll, but only when it is definite.
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
