package customer

import (
	"context"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/identity"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// ResolveJob is the kind of job that follows the opening of an account that was
// not answered. Its subject is the customer and our reference at the bank.
const ResolveJob = "customer.resolve"

// followed is the job that follows an opening.
func (o opening) followed() db.Record {
	return job.New(o.company, ResolveJob, o.customerID+"/"+o.reference, o.search().Next(o.calledUntil))
}

func (o opening) search() operation.Search {
	return operation.Search{Since: o.calledUntil, Missing: o.missing}
}

// Resolve is the work of a ResolveJob. It opens no account: that takes an OTP.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	customerID, reference, _ := strings.Cut(j.Subject, "/")
	o, err := s.findOpening(ctx, j.Company, customerID)
	if err != nil || o.state != pending || o.reference != reference {
		return time.Time{}, err
	}
	now := s.clock.Now()
	if now.Before(o.calledUntil) {
		return o.search().Next(o.calledUntil), nil
	}
	o, err = s.lookUp(ctx, o)
	if taken(err) {
		return o.search().Next(now), nil // the company asked again meanwhile: it knows better
	}
	if err != nil || o.state != pending {
		return time.Time{}, err
	}
	if o.search().TooOld(now) {
		err = s.operations.OpenCase(ctx, o.company, o.customerID, operation.Unresolved, "an account whose opening is not known after 72 hours")
	}
	return o.search().Next(now), err
}

// lookUp looks for an account that may have been opened on the bank's list. One
// that is not there leaves the opening as it is, until it has been missing often
// and long enough: then the company may try again, with a new OTP.
func (s *Service) lookUp(ctx context.Context, o opening) (opening, error) {
	c, err := s.findByID(ctx, o.company, o.customerID)
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.identities.Until().Sub(s.clock.Now()))
	defer cancel()
	found := s.bank.FindAccount(ctx, o.reference)
	ctx = context.WithoutCancel(ctx)
	o.turn, o.updatedAt = id.New(), s.clock.Now() // whoever read it before knows less
	switch {
	case found.Outcome == provider.Confirmed && found.Number != "":
		o.bank = found.Account
		x, err := s.session(ctx, c)
		if err != nil {
			return o, err
		}
		_, err = s.adopt(ctx, o, c, x, nil)
		return s.after(ctx, o, err)
	case found.Missing:
		o.missing++
		if !o.search().Gone(o.updatedAt) {
			return o, s.book.Commit(ctx, ledger.Unit{Company: o.company, Moves: []ledger.Move{o.move()}})
		}
		return s.after(ctx, o, s.refuse(ctx, o, "The bank did not open it.", nil))
	}
	s.log.Warn("it is unknown whether an account was opened", "company", o.company, "reference", o.reference, "code", found.Code)
	return o, nil // nothing is known that was not known before
}

// after is an opening that was ended. That there is no account is the answer to
// a company's request, and no fault here.
func (s *Service) after(ctx context.Context, o opening, err error) (opening, error) {
	if err != nil && !fault.Is(err, fault.Refused) {
		return o, err
	}
	return s.findOpening(ctx, o.company, o.customerID)
}

// session is the one that is being proven for a customer, or an empty one.
func (s *Service) session(ctx context.Context, c Customer) (identity.Session, error) {
	x, err := s.identities.Open(ctx, c.Company, identity.Customer, c.ID)
	if fault.Is(err, fault.Missing) {
		return identity.Session{}, nil
	}
	return x, err
}

// taken tells whether a unit was refused because somebody else has just ended an
// opening, or taken it up.
func taken(err error) bool { return ledger.Is(err, ledger.Moved, accountTable) }
