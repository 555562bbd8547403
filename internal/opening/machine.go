package opening

import (
	"cmp"
	"context"
	"errors"
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

// Machine opens things of one kind, such as bank accounts or cards, at a provider.
type Machine struct {
	Book   *ledger.Book
	Clock  clock.Clock
	Log    *slog.Logger
	Cases  *operation.Service
	Window time.Duration // the longest time that a call to the provider may take

	Kind    string // the name of this kind of thing in the log
	Job     string // the kind of job that completes an open attempt
	Unknown string // the log message for an unknown outcome
	Gone    string // the refusal when the provider did not make the thing
	TooOld  string // the detail of the case after 72 hours
	// Find returns the open attempt that a job is about, or nil if the attempt has ended.
	Find func(ctx context.Context, j job.Job) (Attempt, error)
}

// From is the existing row that an attempt starts from.
type From struct {
	Row   db.Record // the row as it was read; the zero Record if the attempt needs a new row
	Asked bool      // whether an earlier call with the same reference may have made the thing
}

// Open asks the provider to make a thing, and writes the outcome. If an earlier call may have made
// the thing, Open first looks for it. If it is missing, Open asks again under the same reference. A refusal does not end the attempt then,
// because it says nothing about the earlier call, which may still make the thing. Parameter also is a function that adds changes to the unit in
// which the attempt begins. It may be nil.
//
// The call continues if the caller disconnects. Open returns ErrTaken if another request or job
// has changed the attempt meanwhile.
func (m *Machine) Open(ctx context.Context, a Attempt, from From, key *idempotency.Key, also func(u *ledger.Unit) error) error {
	if err := m.begin(ctx, a, from.Row, key, also); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	began, i, again := a.Record(), a.intent(), false
	said, err := m.call(ctx, a, i.CalledUntil.Sub(m.Clock.Now()), func(ctx context.Context) (provider.Answer, error) {
		if from.Asked {
			if found, err := a.Look(ctx); err != nil || !found.Missing {
				return found, err
			}
			again = true
		}
		return a.Ask(ctx)
	})
	if errors.Is(err, context.DeadlineExceeded) { // the time was over before the provider was asked
		err = fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	}
	i.CalledUntil = m.Clock.Now()
	a.Touch(i.CalledUntil)
	switch {
	case said.Outcome == provider.Confirmed:
		return m.adopt(ctx, a, began, key)
	case said.Outcome == provider.Rejected && err == nil && !again:
		return m.refuse(ctx, a, began, said, key)
	case err == nil:
		m.warn(a, said)
	}
	end := m.conclude(ctx, a, began, key, func(u *ledger.Unit, key *idempotency.Key) error {
		key.Release(u) // the next request with this Idempotency-Key continues the attempt
		if err != nil && !from.Asked {
			_ = a.Refuse(u, provider.Answer{Message: fault.Of(err).Message}) // an error of the call means that the provider was not asked
		}
		return nil
	})
	if err == nil {
		err = a.Unanswered(said)
	}
	return cmp.Or(end, err)
}

// begin commits the attempt's row together with the job that completes the attempt.
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

// call calls the provider with a deadline. If the provider's adapter panics, the outcome is
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

// warn logs that the outcome is unknown.
func (m *Machine) warn(a Attempt, said provider.Answer) {
	n := a.Name()
	m.Log.Warn(m.Unknown, "company", n.Company, "reference", n.Reference, "code", said.Code)
}

// adopt gives the company a thing that the provider has made.
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

// refuse ends an attempt because the thing was definitely not made.
func (m *Machine) refuse(ctx context.Context, a Attempt, was db.Record, no provider.Answer, key *idempotency.Key) error {
	var why error
	err := m.conclude(ctx, a, was, key, func(u *ledger.Unit, key *idempotency.Key) error {
		why = a.Refuse(u, no)
		key.Finish(u, nil, why)
		return nil
	})
	return cmp.Or(err, why)
}

// tries is the maximum number of times that conclude builds its unit. conclude builds the unit
// again if the ledger refused it because of a row other than the attempt's row.
const tries = 10

// conclude commits a change of an attempt, together with the changes that the function add makes.
// If a retry has stored a response for the Idempotency-Key meanwhile, that response stays.
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
		default: // another request or job may have ended the attempt
			open, e := m.Find(ctx, job.Job{Company: n.Company, Kind: m.Job, Subject: n.Subject})
			if e == nil && open == nil {
				return ErrTaken
			}
		}
	}
	return err
}

// replace adds the transition of an attempt's row to a unit. The ledger refuses the unit if the
// row has changed since it was read.
func replace(u *ledger.Unit, was, now db.Record) {
	from, _ := was.Value(was.Table.State).(string)
	m := u.Transition(now, from)
	for _, column := range []string{"called_until", "missing"} {
		m.Expect(column, was.Value(column))
	}
}
