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

// Registration is a company's request to create a customer.
type Registration struct {
	Customer // with Company, names, e-mail, phone, date of birth and address
	BVN      secret.Text
	Key      *idempotency.Key // from the Idempotency-Key header; nil without this header
}

// Created is a new customer to whom an OTP was sent.
type Created struct {
	Customer Customer
	Message  string // the provider's message
}

// Create asks the provider to send an OTP to the phone on the customer's BVN. It creates the
// customer only if the OTP was sent. After a failure, the company may register the same e-mail
// address again. With the same BVN it must wait for the cooldown, but with a different BVN it may
// register immediately. Create returns faults of the kinds Refused and Limited.
func (s *Service) Create(ctx context.Context, r Registration) (Created, error) {
	if begun := r.Key.Subject(); begun != "" {
		return s.resumeCreate(ctx, r.Company, begun, r.Key)
	}
	for {
		x, fresh, err := s.reserve(ctx, &r)
		if err != nil {
			return Created{}, err
		}
		var out Created
		_, _, err = s.Identities.Send(ctx, x, identity.First, identity.Effects{
			Begin: func(u *ledger.Unit) {
				if fresh {
					u.Insert(addresses.Record(email{r.Company, addressKey(r.Email), r.ID, s.Clock.Now()}))
				}
				r.Key.Begin(u, r.ID, s.Identities.Until())
			},
			End: func(u *ledger.Unit, message string, err error) {
				if err != nil {
					r.Key.Finish(u, nil, err)
					return
				}
				c := r.Customer
				c.Status, c.CreatedAt.Time = PendingOTP, s.Clock.Now()
				c.UpdatedAt = c.CreatedAt
				out = Created{c, message}
				r.Key.Finish(u, out, nil)
				u.Append(c.record())
				event.Emit(u, event.CustomerCreated, c)
			},
		})
		if ledger.Is(err, ledger.Exists, addresses.Table) {
			continue // a concurrent request has just reserved the e-mail address, so read the reservation
		}
		return out, err
	}
}

// reserve sets the customer ID of the registration and returns the OTP session. If the e-mail
// address is not reserved yet, the ID is new and fresh is true. If an earlier, failed registration
// has reserved the e-mail address, the earlier ID is used again and fresh is false.
func (s *Service) reserve(ctx context.Context, r *Registration) (x identity.Session, fresh bool, err error) {
	r.Email = strings.TrimSpace(r.Email)
	earlier, err := s.reserved(ctx, r.Company, addressKey(r.Email))
	if errors.Is(err, db.ErrNone) {
		r.ID = id.New()
		x, err := s.Identities.New(r.Company, identity.Customer, r.ID, r.BVN)
		return x, true, err
	}
	if err != nil {
		return x, false, err
	}
	r.ID = earlier
	_, err = s.findByID(ctx, r.Company, earlier)
	if err == nil {
		err = fault.New(fault.Refused, "Customer already exists").With(fault.AlreadyExists)
	}
	if !errors.Is(err, db.ErrNone) {
		return x, false, err
	}
	if x, err = s.Identities.Open(ctx, r.Company, identity.Customer, r.ID); err == nil {
		x, err = s.Identities.About(x, r.BVN)
	}
	return x, false, err
}

// resumeCreate returns the outcome for a retry with the same Idempotency-Key. The first request
// used an OTP attempt, but ended before its response was stored. The retry does not send a second
// OTP.
func (s *Service) resumeCreate(ctx context.Context, company, customerID string, key *idempotency.Key) (Created, error) {
	c, err := s.findByID(ctx, company, customerID)
	out, why := Created{c, identity.First.Sent}, error(nil)
	if errors.Is(err, db.ErrNone) {
		err, why = nil, fault.New(fault.Refused, identity.First.Failed).With(fault.OTPNotSent)
	}
	if err == nil {
		err = s.Keys.Finish(ctx, key, out, why)
	}
	if err != nil {
		return Created{}, err
	}
	return out, why
}

// Resent names the customer to whom a new OTP was sent.
type Resent struct{ CustomerID string }

// Resend asks the provider to send a new OTP to a customer who has no account. The earlier OTP
// becomes invalid. Resend returns faults of the kinds Missing, Refused and Limited.
func (s *Service) Resend(ctx context.Context, company, idOrEmail string, key *idempotency.Key) (Resent, error) {
	c, err := s.Find(ctx, company, idOrEmail)
	if err != nil {
		return Resent{}, err
	}
	if key.Subject() != "" {
		// The first request used an OTP attempt, but ended before its response was stored. Resend
		// does not send a second OTP.
		why := fault.New(fault.Refused, identity.Again.Failed).With(fault.OTPNotSent)
		if err := s.Keys.Finish(ctx, key, nil, why); err != nil {
			return Resent{}, err
		}
		return Resent{}, why
	}
	if c.Account != nil {
		return Resent{}, errGenerated
	}
	x, err := s.Identities.Open(ctx, company, identity.Customer, c.ID)
	if fault.Is(err, fault.Missing) {
		err = errNoKYC
	}
	if err != nil {
		return Resent{}, err
	}
	_, _, err = s.Identities.Send(ctx, x, identity.Again, identity.Effects{
		Begin: func(u *ledger.Unit) { key.Begin(u, c.ID, s.Identities.Until()) },
		End:   func(u *ledger.Unit, _ string, err error) { key.Finish(u, Resent{c.ID}, err) },
	})
	return Resent{c.ID}, err
}
