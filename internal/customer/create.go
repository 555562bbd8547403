package customer

import (
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Registration is a customer to create.
type Registration struct {
	Customer // Company, names, e-mail, phone, date of birth, address
	BVN      secret.Text
	Key      *idempotency.Key // from the header; nil for none
}

// Created is a customer whose OTP is on its way.
type Created struct {
	Customer Customer
	Message  string // the provider's words
}

// Create has an OTP sent to the phone on the customer's BVN, and creates the
// customer when that worked. When it did not there is no customer: the same
// e-mail address may be sent again, with the same BVN after the cooldown, with
// another one at once. Faults are Refused and Limited.
func (s *Service) Create(ctx context.Context, r Registration) (Created, error) {
	if begun := r.Key.Subject(); begun != "" {
		return s.resumeCreate(ctx, r.Company, begun, r.Key)
	}
	for {
		x, claims, err := s.reserve(ctx, &r)
		if err != nil {
			return Created{}, err
		}
		var out Created
		_, _, err = s.identities.Send(ctx, x, identity.First, identity.Paper{
			Claims: append(claims, r.Key.Running(r.ID, s.identities.Until())...),
			Then: func(_ identity.Session, message string, err error) ([]ledger.Move, []db.Record) {
				if err != nil {
					return r.Key.Done(nil, err), nil
				}
				out = Created{r.enter(s), message}
				return r.Key.Done(out, nil), []db.Record{
					out.Customer.record(), event.New(r.Company, event.CustomerCreated, out.Customer),
				}
			},
		})
		if ledger.Is(err, ledger.Exists, emailTable) {
			continue // somebody else has taken the address just now: see what became of it
		}
		return out, idempotency.Taken(err)
	}
}

// enter is the registered customer as of now.
func (r Registration) enter(s *Service) Customer {
	c := r.Customer
	c.Status, c.CreatedAt = PendingOTP, s.clock.Now()
	c.UpdatedAt = c.CreatedAt
	return c
}

// reserve gives the registration its customer id: a new one together with the
// claim of the e-mail address, or the one that an earlier try without success
// has left.
func (s *Service) reserve(ctx context.Context, r *Registration) (identity.Session, []db.Record, error) {
	r.Email = strings.TrimSpace(r.Email)
	earlier, err := s.reserved(ctx, r.Company, addressKey(r.Email))
	if errors.Is(err, db.ErrNone) {
		r.ID = id.New()
		x, err := s.identities.New(r.Company, identity.Customer, r.ID, r.BVN)
		return x, []db.Record{emailRecord(r.Customer, s.clock.Now())}, err
	}
	if err != nil {
		return identity.Session{}, nil, err
	}
	r.ID = earlier
	_, err = s.findByID(ctx, r.Company, earlier)
	if err == nil {
		err = fault.New(fault.Refused, "Customer already exists")
	}
	if !errors.Is(err, db.ErrNone) {
		return identity.Session{}, nil, err
	}
	x, err := s.identities.Open(ctx, r.Company, identity.Customer, r.ID)
	if err != nil {
		return x, nil, err
	}
	x, err = s.identities.About(x, r.BVN)
	return x, nil, err
}

// resumeCreate answers a request whose first try, under the same
// Idempotency-Key, was cut off after it had taken its turn. No other OTP is sent
// for it.
func (s *Service) resumeCreate(ctx context.Context, company, customerID string, key *idempotency.Key) (Created, error) {
	c, err := s.findByID(ctx, company, customerID)
	out, why := Created{c, identity.First.Sent}, error(nil)
	if errors.Is(err, db.ErrNone) {
		err, why = nil, fault.New(fault.Refused, identity.First.Failed)
	}
	if err == nil {
		err = s.keys.Finish(ctx, key, out, why)
	}
	if err != nil {
		return Created{}, err
	}
	return out, why
}

// Resent is another OTP on its way.
type Resent struct{ CustomerID string }

// Resend has another OTP sent to a customer who has no account yet; the earlier
// one is void. Faults are Missing, Refused and Limited.
func (s *Service) Resend(ctx context.Context, company, idOrEmail string, key *idempotency.Key) (Resent, error) {
	c, err := s.Find(ctx, company, idOrEmail)
	if err != nil {
		return Resent{}, err
	}
	if key.Subject() != "" {
		// The first try took its turn and was cut off; no other OTP is sent for it.
		why := fault.New(fault.Refused, identity.Again.Failed)
		if err := s.keys.Finish(ctx, key, nil, why); err != nil {
			return Resent{}, err
		}
		return Resent{}, why
	}
	if c.Account != nil {
		return Resent{}, errGenerated
	}
	x, err := s.identities.Open(ctx, company, identity.Customer, c.ID)
	if fault.Is(err, fault.Missing) {
		err = errNoKYC
	}
	if err != nil {
		return Resent{}, err
	}
	_, _, err = s.identities.Send(ctx, x, identity.Again, identity.Paper{
		Claims: key.Running(c.ID, s.identities.Until()),
		Then: func(_ identity.Session, _ string, err error) ([]ledger.Move, []db.Record) {
			return key.Done(Resent{c.ID}, err), nil
		},
	})
	return Resent{c.ID}, idempotency.Taken(err)
}
