// Package erasure removes a customer's personal data on request.
//
// An erasure begins with one unit. The unit strikes the customer's name, contact data and address, and
// seals the record of identification that the law demands. From then on the company does not see the
// customer any more. A job then removes the customer from stored responses and from events, in steps
// that a crash may interrupt. Years later the job deletes the sealed record.
//
// An event is a signed row and a leaf of its company's tree. The unit that changes the event signs it
// again and keeps the old hash of the leaf (evidence.Service.Erasing). An audit line of the unit names
// the changed leaves. So kobo verify accepts these changes and no others.
package erasure

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Job is the kind of job that completes an erasure. The subject is the customer's ID.
const Job = "erasure.complete"

// patience is the longest time that Finish waits for a checkpoint.
const patience = 5 * time.Second

// schema is the first schema whose programs know erased customers.
const schema = 67

// SealedAs names the column to which the sealed record of identification is bound.
const SealedAs = "erasure.identity"

// Config contains what a Service needs.
type Config struct {
	DB         *db.DB
	Book       *ledger.Book
	Clock      clock.Clock
	Log        *slog.Logger
	Ring       *secret.Keyring
	Customers  *customer.Service
	Cards      *card.Service
	Identities *identity.Service
	Operations *operation.Service
	Keys       *idempotency.Service
	Events     *event.Service
	// Erasing returns the row that keeps the hash of a row of evidence, before the row is changed.
	Erasing func(ctx context.Context, company string, leaf int64) (db.Record, error)
	Years   int // how long the record of identification is kept after the erasure
}

// Service erases customers.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// State is the state of an erasure.
type State string

// The states of an erasure.
const (
	Open      State = "OPEN"      // stored responses or events may still name the customer
	Done      State = "DONE"      // only the sealed record of identification is left
	Forgotten State = "FORGOTTEN" // the record of identification is deleted
)

// Erasure is the erasure of one customer.
type Erasure struct {
	Company      string    `db:"company_id,key"`
	CustomerID   string    `db:"customer_id,key"`
	State        State     `db:"state,state"`
	identity     string    `db:"identity,changes"` // sealed
	response     string    `db:"response,changes"` // the last Idempotency-Key that was looked at
	sequence     int64     `db:"sequence,changes"` // the last event that was looked at
	lastSequence int64     `db:"last_sequence,changes"`
	ErasedAt     time.Time `db:"erased_at"`
	updatedAt    time.Time `db:"updated_at,changes"`
}

// Told is the data of the event that tells the company of an erasure.
type Told struct {
	CustomerID string `json:"customerId"`
	ErasedAt   string `json:"erasedAt"`
}

func (e Erasure) place() secret.Place {
	return secret.Place{Company: e.Company, Column: SealedAs, Row: e.CustomerID}
}

// KeptUntil returns when the record of identification is deleted.
func (s *Service) KeptUntil(e Erasure) time.Time { return e.ErasedAt.AddDate(s.Years, 0, 0) }

// Check returns the company of a customer. It returns a fault if the customer cannot be erased.
func (s *Service) Check(ctx context.Context, customerID string) (company string, err error) {
	company, err = s.Customers.CompanyOf(ctx, customerID)
	if err == nil {
		_, _, err = s.prepare(ctx, company, customerID)
	}
	return company, err
}

// prepare returns the unit that begins the erasure of a customer.
func (s *Service) prepare(ctx context.Context, company, customerID string) (u ledger.Unit, e Erasure, err error) {
	older, err := s.DB.Beside(ctx, schema)
	if err == nil && older {
		err = fault.New(fault.Refused, "A program of an older Kobo runs, which would show the erased customer: upgrade it first")
	}
	if err != nil {
		return u, e, err
	}
	now := s.Clock.Now()
	e = Erasure{Company: company, CustomerID: customerID, State: Open, ErasedAt: now, updatedAt: now}
	u = ledger.For(company)
	person, open, err := s.Customers.Erase(ctx, &u, customerID, now)
	if err != nil {
		return u, e, err
	}
	cards, more, err := s.Cards.Erase(ctx, &u, customerID)
	if err != nil {
		return u, e, err
	}
	cases, err := s.Operations.OpenAbout(ctx, company, append(cards, customerID))
	if err != nil {
		return u, e, err
	}
	open = append(open, more...)
	for _, one := range cases {
		open = append(open, "the case "+one+" is open")
	}
	if len(open) > 0 {
		return u, e, fault.New(fault.Refused, "The customer cannot be erased: "+strings.Join(open, "; "))
	}
	text, err := json.Marshal(person)
	if err == nil {
		e.identity, err = s.Ring.Seal(e.place(), string(text))
	}
	return u, e, err
}

// Erase begins the erasure of a customer. The fault is Refused if something of the customer is open,
// and Conflict if the customer has changed meanwhile.
func (s *Service) Erase(ctx context.Context, by operator.Operator, customerID string) (Erasure, error) {
	company, err := s.Customers.CompanyOf(ctx, customerID)
	if err != nil {
		return Erasure{}, err
	}
	u, e, err := s.prepare(ctx, company, customerID)
	if err != nil {
		return e, err
	}
	u.Insert(rows.Record(e))
	u.Append(job.Job{Kind: Job, Subject: customerID, RunAt: e.ErasedAt}.For(company))
	by.Audit(&u, "customer.erase", customerID, nil, e.ErasedAt)
	event.Emit(&u, event.CustomerErased, Told{customerID, clock.Text(e.ErasedAt)})
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) || ledger.Is(err, ledger.Exists) {
		return e, fault.New(fault.Conflict, "The customer has just changed: try again").Because(err)
	}
	return e, err
}

// Complete runs a Job: it does one step of an erasure. After the last step it waits until the record of
// identification may be deleted.
func (s *Service) Complete(ctx context.Context, j job.Job) (next time.Time, err error) {
	e, err := s.find(ctx, j.Company, j.Subject)
	switch {
	case errors.Is(err, db.ErrNone) || err == nil && e.State == Forgotten:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	now := s.Clock.Now()
	if until := s.KeptUntil(e); e.State == Done && now.Before(until) {
		return until, nil
	}
	if e.State == Open && e.lastSequence > 0 {
		may, err := s.DB.MayChange(ctx, "event")
		if err != nil {
			return time.Time{}, err
		}
		if !may {
			s.Log.WarnContext(ctx, "the events about an erased customer wait: run kobo erase as the owner of the database",
				"company", e.Company, "customer", e.CustomerID)
			return now.Add(time.Hour), nil
		}
	}
	if err = s.step(ctx, e); pause(err) > 0 {
		return now.Add(pause(err)), nil
	}
	return now, err
}

// pause returns the time after which a step that got no checkpoint yet may be done again. It returns 0
// for every other error.
func pause(err error) time.Duration {
	if err == nil {
		return 0
	}
	return fault.Of(err).Retry
}

// Finish completes all open erasures. The user of the database must be its owner, because the role of
// kobo serve may not change an event. Finish returns the number of completed erasures. If a company gets
// no checkpoint for a longer time, Finish goes on with the other erasures, and returns the fault.
func (s *Service) Finish(ctx context.Context) (n int, err error) {
	list, err := s.opened(ctx)
	for _, e := range list {
		switch failed := s.finish(ctx, e); {
		case failed == nil:
			n++
		case pause(failed) > 0:
			err = failed
		default:
			return n, failed
		}
	}
	return n, err
}

// finish does the steps of an erasure until it is no longer open.
func (s *Service) finish(ctx context.Context, e Erasure) (err error) {
	for err == nil && e.State == Open {
		if err = s.step(ctx, e); pause(err) > 0 && pause(err) <= patience {
			err = wait(ctx, pause(err))
		}
		if err == nil {
			e, err = s.find(ctx, e.Company, e.CustomerID)
		}
	}
	return err
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
