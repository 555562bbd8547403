package opening

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Resolve runs the job of an open attempt: it looks once for the thing at the provider. It never
// asks the provider to make the thing.
func (m *Machine) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	a, err := m.Find(ctx, j)
	if err != nil || a == nil {
		return time.Time{}, err
	}
	now := m.Clock.Now()
	if until := a.intent().CalledUntil; until.Sub(now) > m.Window+time.Hour {
		return m.redate(ctx, a)
	} else if now.Before(until) {
		return a.intent().search().Next(until), nil
	}
	err = m.Look(ctx, a)
	if errors.Is(err, ErrTaken) {
		return a.intent().search().Next(now), nil // a request has continued the attempt meanwhile
	}
	if err == nil {
		a, err = m.Find(ctx, j)
	}
	if err != nil || a == nil {
		return time.Time{}, err
	}
	if i := a.intent(); i.search().TooOld(now) {
		// A case from before the last call is about an earlier attempt, or about an earlier call of this one.
		err = m.Cases.OpenCaseSince(ctx, j.Company, a.Name().ID, operation.Unresolved, i.CalledUntil, m.TooOld)
	}
	return a.intent().search().Next(now), err
}

// redate corrects the attempt of a request that began while a clock was ahead. The program may still be calling the provider, but this
// call ends within the window from now. Before that, the thing does not count as missing, and no other request asks for it.
func (m *Machine) redate(ctx context.Context, a Attempt) (next time.Time, err error) {
	now, was, i := m.Clock.Now(), a.Record(), a.intent()
	i.CalledUntil, i.Missing = now.Add(m.Window), 0
	a.Touch(now)
	err = m.conclude(ctx, a, was, nil, func(*ledger.Unit, *idempotency.Key) error { return nil })
	if errors.Is(err, ErrTaken) {
		err = nil // the next run reads what a request has written meanwhile
	}
	return i.search().Next(i.CalledUntil), err
}

// Look looks once for a thing that may have been made, and writes the outcome. While the thing is
// missing, the attempt stays open. Once the thing has been missing often and long enough, Look
// refuses the attempt. The company gets the refusal as an error, but Look itself returns nil.
func (m *Machine) Look(ctx context.Context, a Attempt) error {
	was := a.Record()
	said, err := m.call(ctx, a, m.Window, a.Look)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	a.Touch(m.Clock.Now())
	switch {
	case said.Outcome == provider.Confirmed:
		err = m.adopt(ctx, a, was, nil)
	case said.Outcome == provider.Rejected:
		err = m.refuse(ctx, a, was, said, nil)
	case said.Missing:
		i := a.intent()
		if i.Missing++; m.Cases.IsGone(i.search()) {
			err = m.refuse(ctx, a, was, provider.Answer{Message: m.Gone}, nil)
		} else {
			err = m.conclude(ctx, a, was, nil, func(*ledger.Unit, *idempotency.Key) error { return nil })
		}
	default:
		m.warn(a, said) // the attempt stays as it is
	}
	if fault.Is(err, fault.Refused) {
		return nil
	}
	return err
}
