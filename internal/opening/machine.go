package opening

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Machine opens the things of one kind.
type Machine struct {
	Book   *ledger.Book
	Clock  clock.Clock
	Log    *slog.Logger
	Cases  *operation.Service
	Window time.Duration // the longest time that a call to the provider may take

	Kind    string // for the log
	Job     string // the kind of the job that follows an attempt
	Unknown string // the log line while nobody knows the outcome
	Gone    string // the refusal when the provider never had the thing
	TooOld  string // the detail of the case after 72 hours
	// Find is the open attempt that a job follows; nil when the attempt is over.
	Find func(ctx context.Context, j job.Job) (Attempt, error)
}

// From is the row that an attempt takes up.
type From struct {
	Row   db.Record // as it was read; the zero Record for a new row
	Asked bool      // an earlier call under the attempt's reference may have made the thing
}

// Open has the provider make a thing, and writes the outcome. After an earlier call
// without an answer, Open looks for the thing before it asks again. Also, which may
// be nil, adds to the first unit.
//
// The call goes on when the caller hangs up. ErrTaken comes back when somebody else
// was faster.
func (m *Machine) Open(ctx context.Context, a Attempt, from From, key *idempotency.Key, also func(u *ledger.Unit) error) error {
	if err := m.begin(ctx, a, from.Row, key, also); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	began, i := a.Record(), a.intent()
	said, err := m.call(ctx, a, i.CalledUntil.Sub(m.Clock.Now()), func(ctx context.Context) (provider.Answer, error) {
		if from.Asked {
			if found, err := a.Look(ctx); err != nil || !found.Missing {
				return found, err
			}
		}
		return a.Ask(ctx)
	})
	i.CalledUntil = m.Clock.Now()
	a.Touch(i.CalledUntil)
	switch {
	case said.Outcome == provider.Confirmed:
		return m.adopt(ctx, a, began, key)
	case said.Outcome == provider.Rejected && err == nil:
		return m.refuse(ctx, a, began, said, key)
	case err == nil:
		m.warn(a, said)
	}
	end := m.conclude(ctx, a, began, key, func(u *ledger.Unit, key *idempotency.Key) error {
		key.Release(u) // the next request takes up the attempt and the key
		if err != nil && !from.Asked {
			_ = a.Refuse(u, provider.Answer{Message: fault.Of(err).Message}) // nobody asked the provider
		}
		return nil
	})
	if err == nil {
		err = a.Unanswered(said)
	}
	return cmp.Or(end, err)
}

// begin writes an attempt, with the job that follows it.
func (m *Machine) begin(ctx context.Context, a Attempt, was db.Record, key *idempotency.Key, also func(u *ledger.Unit) error) error {
	now, n, i := m.Clock.Now(), a.Name(), a.intent()
	a.Touch(now)
	i.CalledUntil, i.Missing = now.Add(m.Window), 0
	u := ledger.For(n.Company)
	if was.Table == nil {
		u.Insert(a.Record())
	} else {
		replace(&u, was, a.Record())
	}
	if also != nil {
		if err := also(&u); err != nil {
			return err
		}
	}
	if key.Subject() == "" {
		key.Begin(&u, n.ID, i.CalledUntil)
	}
	u.Append(job.Job{Kind: m.Job, Subject: n.Subject, Provider: n.Provider, RunAt: i.search().Next(i.CalledUntil)}.For(u.Company))
	err := m.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) || ledger.Is(err, ledger.Exists, a.Record().Table) {
		return ErrTaken
	}
	return idempotency.Taken(err)
}

// call calls the provider with a deadline. A plug that panics leaves the outcome
// unknown.
func (m *Machine) call(
	ctx context.Context, a Attempt, limit time.Duration, call func(ctx context.Context) (provider.Answer, error),
) (said provider.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			n := a.Name()
			m.Log.Error("a plug panicked", "provider", n.Provider, m.Kind, n.ID, "panic", fmt.Sprint(p))
			said, err = provider.Answer{Code: "panic"}, nil
		}
	}()
	return call(ctx)
}

// warn logs that nobody knows the outcome.
func (m *Machine) warn(a Attempt, said provider.Answer) {
	n := a.Name()
	m.Log.Warn(m.Unknown, "company", n.Company, "reference", n.Reference, "code", said.Code)
}

// adopt makes a thing of the provider the company's.
func (m *Machine) adopt(ctx context.Context, a Attempt, was db.Record, key *idempotency.Key) error {
	err := a.Enter(ctx)
	if fault.Is(err, fault.Refused) {
		return m.refuse(ctx, a, was, provider.Answer{Message: fault.Of(err).Message}, key)
	}
	if err != nil {
		return err
	}
	return m.conclude(ctx, a, was, key, func(u *ledger.Unit, key *idempotency.Key) error {
		result, err := a.Adopt(ctx, u)
		if result != nil {
			key.Finish(u, result, nil)
		}
		return err
	})
}

// refuse ends an attempt because of a definite no.
func (m *Machine) refuse(ctx context.Context, a Attempt, was db.Record, no provider.Answer, key *idempotency.Key) error {
	var why error
	err := m.conclude(ctx, a, was, key, func(u *ledger.Unit, key *idempotency.Key) error {
		why = a.Refuse(u, no)
		key.Finish(u, nil, why)
		return nil
	})
	return cmp.Or(err, why)
}

// tries limits how often a unit is made anew because another row of it has changed.
const tries = 10

// conclude commits a change of an attempt, together with what add adds. An
// Idempotency-Key that a retry has answered meanwhile keeps that answer.
func (m *Machine) conclude(
	ctx context.Context, a Attempt, was db.Record, key *idempotency.Key, add func(u *ledger.Unit, key *idempotency.Key) error,
) (err error) {
	n := a.Name()
	for range tries {
		u := ledger.For(n.Company)
		if err := add(&u, key); err != nil {
			return err
		}
		replace(&u, was, a.Record())
		switch err = m.Book.Commit(ctx, u); {
		case ledger.Is(err, ledger.Moved, was.Table):
			return ErrTaken
		case idempotency.Answered(err):
			key = nil
		case !ledger.Is(err, ledger.Moved):
			return err
		default: // somebody else may have ended the attempt, together with that row
			open, e := m.Find(ctx, job.Job{Company: n.Company, Kind: m.Job, Subject: n.Subject})
			if e == nil && open == nil {
				return ErrTaken
			}
		}
	}
	return err
}

// replace adds the transition of an attempt's row, if the row is as it was.
func replace(u *ledger.Unit, was, now db.Record) {
	from, _ := was.Value(was.Table.State).(string)
	m := u.Transition(now, from)
	for _, column := range []string{"called_until", "missing"} {
		m.Expect(column, was.Value(column))
	}
}
