package customer

import (
	"context"
	"errors"
	"strings"
	"time"

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
// register immediately. The same holds for a customer whose name did not match the BVN. The new
// registration then corrects this customer. Create returns faults of the kinds Refused and Limited.
func (s *Service) Create(ctx context.Context, r Registration) (Created, error) {
	if begun := r.Key.Subject(); begun != "" {
		return s.resumeCreate(ctx, r, begun)
	}
	for {
		held, err := s.reserve(ctx, &r)
		if err != nil {
			return Created{}, err
		}
		var out Created
		_, _, err = s.Identities.Send(ctx, held.session, identity.First, identity.Effects{
			Begin: func(u *ledger.Unit) {
				if held.fresh {
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
				if held.customer != nil {
					c.CreatedAt = held.customer.CreatedAt
					s.correct(u, c, held.refusal)
				} else {
					u.Append(c.record())
					event.Emit(u, event.CustomerCreated, c)
				}
				out = Created{c, message}
				r.Key.Finish(u, out, nil)
			},
		})
		if ledger.Is(err, ledger.Exists, addresses.Table) {
			continue // a concurrent request has just reserved the e-mail address, so read the reservation
		}
		if ledger.Is(err, ledger.Moved, customers.Table, accounts.Table) {
			err = errExists // the customer was erased meanwhile, or their account is being opened
		}
		return out, err
	}
}

// reservation is what an earlier request for the same e-mail address has left.
type reservation struct {
	session  identity.Session
	fresh    bool      // the e-mail address is not reserved yet
	customer *Customer // the customer whose name was refused; nil for a new customer
	refusal  account   // the refused opening of this customer's account
}

var errExists = fault.New(fault.Refused, "Customer already exists").With(fault.AlreadyExists)

// reserve sets the customer ID of the registration and returns the OTP session. If the e-mail
// address is not reserved yet, the ID is new. If an earlier, failed registration has reserved the
// e-mail address, or if the customer's name was refused, the earlier ID is used again.
func (s *Service) reserve(ctx context.Context, r *Registration) (held reservation, err error) {
	r.Email = strings.TrimSpace(r.Email)
	name := secret.NewText(r.FirstName + " " + r.LastName)
	earlier, err := s.reserved(ctx, r.Company, addressKey(r.Email))
	if errors.Is(err, db.ErrNone) {
		r.ID, held.fresh = id.New(), true
		held.session, err = s.Identities.New(r.Company, identity.Customer, r.ID, r.BVN)
		held.session.Name = name
		return held, err
	}
	if err != nil {
		return held, err
	}
	r.ID = earlier
	c, err := s.findByID(ctx, r.Company, earlier)
	if err == nil {
		held.customer = &c
		held.refusal, err = db.OrZero(s.findAccount(ctx, r.Company, c.ID))
		if err == nil && (held.refusal.state != refused || held.refusal.nameMatch == "") {
			err = errExists
		}
	} else if errors.Is(err, db.ErrNone) {
		err = nil
	}
	if err != nil {
		return held, err
	}
	held.session, err = s.Identities.Open(ctx, r.Company, identity.Customer, r.ID)
	if err == nil && held.customer == nil && held.session.State == identity.OTPSent {
		err = errExists // a concurrent request has just created the customer
	}
	if err == nil {
		held.session, err = s.Identities.About(held.session, r.BVN)
		held.session.Name = name
	}
	return held, err
}

// correct adds a change to the unit u. The change replaces the data of a customer whose name was
// refused. The ledger refuses the unit if the customer's account is being opened.
func (s *Service) correct(u *ledger.Unit, c Customer, refusal account) {
	u.Transition(corrections.Record(correction{c.Company, c.ID, c.Status, c.personal(), c.UpdatedAt.Time}), string(PendingOTP)).Expect("erased_at", int64(0))
	was := refusal.turn
	refusal.turn, refusal.nameMatch, refusal.updatedAt = id.New(), "", c.UpdatedAt.Time
	refusal.CalledUntil = refusal.CalledUntil.Add(time.Microsecond) // so a request that has read the earlier name cannot open the account
	u.Transition(accounts.Record(refusal), string(refused)).Expect("turn", was)
}

// resumeCreate returns the outcome for a retry with the same Idempotency-Key. The first request
// used an OTP attempt, but ended before its response was stored. The retry does not send a second
// OTP. A customer with a different name was not yet corrected by the first request.
func (s *Service) resumeCreate(ctx context.Context, r Registration, customerID string) (Created, error) {
	c, err := s.findByID(ctx, r.Company, customerID)
	out, why := Created{c, identity.First.Sent}, error(nil)
	if errors.Is(err, db.ErrNone) || err == nil && (c.FirstName != r.FirstName || c.MiddleName != r.MiddleName || c.LastName != r.LastName) {
		err, why = nil, fault.New(fault.Refused, identity.First.Failed).With(fault.OTPNotSent)
	}
	if err == nil {
		err = s.Keys.Finish(ctx, r.Key, out, why)
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
	x.Name = secret.NewText(c.FirstName + " " + c.LastName)
	_, _, err = s.Identities.Send(ctx, x, identity.Again, identity.Effects{
		Begin: func(u *ledger.Unit) { key.Begin(u, c.ID, s.Identities.Until()) },
		End:   func(u *ledger.Unit, _ string, err error) { key.Finish(u, Resent{c.ID}, err) },
	})
	return Resent{c.ID}, err
}
