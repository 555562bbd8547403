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
	book   *ledger.Book
	clock  clock.Clock
	log    *slog.Logger
	cases  *operation.Service
	window time.Duration
	kind   Kind
}

// New is the machine of a kind. Window is how long a call to the provider may take.
func New(book *ledger.Book, c clock.Clock, log *slog.Logger, cases *operation.Service, window time.Duration, k Kind) *Machine {
	return &Machine{book: book, clock: c, log: log, cases: cases, window: window, kind: k}
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
func (m *Machine) Open(ctx context.Context, a Attempt, from From, key *idempotency.Key, also func(u *ledger.Unit)) error {
	if err := m.begin(ctx, a, from.Row, key, also); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	began := a.Record()
	answer, err := m.ask(ctx, a, from.Asked)
	a.Touch(m.clock.Now())
	a.intent().CalledUntil = m.clock.Now()
	if err == nil {
		return m.heard(ctx, a, began, answer, key)
	}
	// The provider was not asked this time.
	end := m.conclude(ctx, a, began, key, func(u *ledger.Unit, key *idempotency.Key) error {
		if !from.Asked {
			_ = a.Refuse(u, provider.Answer{Message: fault.Of(err).Message}) // the company hears why it was not asked
		}
		key.Release(u)
		return nil
	})
	return cmp.Or(end, err)
}

// begin writes an attempt down, and has it followed.
func (m *Machine) begin(ctx context.Context, a Attempt, was db.Record, key *idempotency.Key, also func(u *ledger.Unit)) error {
	now, n, i := m.clock.Now(), a.Name(), a.intent()
	a.Touch(now)
	i.CalledUntil, i.Missing = now.Add(m.window), 0
	u := ledger.For(n.Company)
	if was.Table == nil {
		u.Insert(a.Record())
	} else {
		replace(&u, was, a.Record())
	}
	if also != nil {
		also(&u)
	}
	if key.Subject() == "" {
		key.Begin(&u, n.ID, i.CalledUntil)
	}
	u.Enqueue(job.Job{Kind: m.kind.Job, Subject: n.Subject, Provider: n.Provider, RunAt: i.search().Next(i.CalledUntil)})
	err := m.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) || ledger.Is(err, ledger.Exists, a.Record().Table) {
		return ErrTaken
	}
	return idempotency.Taken(err)
}

// ask asks the provider for a thing, unless an earlier call has made it.
func (m *Machine) ask(ctx context.Context, a Attempt, asked bool) (provider.Answer, error) {
	return m.call(ctx, a, a.intent().CalledUntil.Sub(m.clock.Now()), func(ctx context.Context) (provider.Answer, error) {
		if asked {
			if found, err := a.Look(ctx); err != nil || !found.Missing {
				return found, err
			}
		}
		return a.Ask(ctx)
	})
}

// call gives the provider a time, and survives a plug that panics: what it did
// then is unknown.
func (m *Machine) call(
	ctx context.Context, a Attempt, limit time.Duration, call func(ctx context.Context) (provider.Answer, error),
) (said provider.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			n := a.Name()
			m.log.Error("a plug panicked", "provider", n.Provider, m.kind.Name, n.ID, "panic", fmt.Sprint(p))
			said, err = provider.Answer{Code: "panic"}, nil
		}
	}()
	return call(ctx)
}

// heard writes what the provider said. While nobody knows, the attempt stays open
// and an Idempotency-Key stays unanswered, so that the next request takes both up.
func (m *Machine) heard(ctx context.Context, a Attempt, was db.Record, said provider.Answer, key *idempotency.Key) error {
	switch said.Outcome {
	case provider.Confirmed:
		return m.adopt(ctx, a, was, key)
	case provider.Rejected:
		return m.refuse(ctx, a, was, said, key)
	}
	m.warn(a, said)
	err := m.conclude(ctx, a, was, key, func(u *ledger.Unit, key *idempotency.Key) error {
		key.Release(u)
		return nil
	})
	return cmp.Or(err, a.Unanswered(said))
}

func (m *Machine) warn(a Attempt, said provider.Answer) {
	n := a.Name()
	m.log.Warn(m.kind.Unknown, "company", n.Company, "reference", n.Reference, "code", said.Code)
}

// adopt makes what the provider has made the company's.
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
		if err == nil {
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

// conclude commits a change of an attempt, with what add says goes with it. An
// Idempotency-Key that a retry has answered meanwhile keeps that answer.
func (m *Machine) conclude(
	ctx context.Context, a Attempt, was db.Record, key *idempotency.Key, add func(u *ledger.Unit, key *idempotency.Key) error,
) error {
	for {
		u := ledger.For(a.Name().Company)
		if err := add(&u, key); err != nil {
			return err
		}
		replace(&u, was, a.Record())
		switch err := m.book.Commit(ctx, u); {
		case ledger.Is(err, ledger.Moved, was.Table):
			return ErrTaken
		case idempotency.Answered(err):
			key = nil
		case !ledger.Is(err, ledger.Moved):
			return err
		}
	}
}

const calledUntil = "called_until"

func state(r db.Record) any { return r.Value(r.Table.State) }

// replace adds the transition of an attempt's row, if the row is as it was.
func replace(u *ledger.Unit, was, now db.Record) {
	from, _ := state(was).(string)
	u.Transition(now, from).Expect(calledUntil, was.Value(calledUntil)).Expect("missing", was.Value("missing"))
}
