package corporate

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// ResolveJob is the kind of job that follows an attempt that was not answered.
const ResolveJob = "corporate.resolve"

// followed is the job that follows an attempt.
func (a Account) followed() db.Record {
	return job.New(a.Company, ResolveJob, a.ID, a.search().Next(a.calledUntil))
}

func (a Account) search() operation.Search {
	return operation.Search{Since: a.calledUntil, Missing: a.missing}
}

// Resolve is the work of a ResolveJob. It opens no account: a company asks for
// one.
func (s *Service) Resolve(ctx context.Context, j job.Job) (next time.Time, err error) {
	a, err := s.find(ctx, j.Company, j.Subject)
	if err != nil || a.State != Pending {
		return time.Time{}, err
	}
	now := s.clock.Now()
	if now.Before(a.calledUntil) {
		return a.search().Next(a.calledUntil), nil
	}
	a, err = s.lookUp(ctx, a)
	if taken(err) {
		return a.search().Next(now), nil // the company asked again meanwhile: it knows better
	}
	if err != nil || a.State != Pending {
		return time.Time{}, err
	}
	if a.search().TooOld(now) {
		err = s.operations.OpenCase(ctx, a.Company, a.ID, operation.Unresolved, "a corporate account whose opening is not known after 72 hours")
	}
	return a.search().Next(now), err
}

// lookUp looks for an account that may have been opened on the bank's list. One
// that is not there leaves the attempt as it is, until it has been missing often
// and long enough: then the company may make another one.
func (s *Service) lookUp(ctx context.Context, a Account) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, s.identities.Until().Sub(s.clock.Now()))
	defer cancel()
	found := s.bank.FindAccount(ctx, a.ID)
	ctx = context.WithoutCancel(ctx)
	a.turn, a.UpdatedAt = id.New(), s.clock.Now() // whoever read it before knows less
	var err error
	switch {
	case found.Outcome == provider.Confirmed && found.Number != "":
		a.Bank = found.Account
		_, err = s.adopt(ctx, a, nil)
	case found.Missing:
		a.missing++
		if !a.search().Gone(a.UpdatedAt) {
			return a, s.book.Commit(ctx, ledger.Unit{Company: a.Company, Moves: []ledger.Move{a.move()}})
		}
		_, err = s.refuse(ctx, a, "The bank did not open the account", nil)
	default:
		s.log.Warn("it is unknown whether an account was opened", "company", a.Company, "reference", a.ID, "code", found.Code)
		return a, nil // nothing is known that was not known before
	}
	// That there is no account is the answer to a company's request, and no fault
	// here.
	if err != nil && !fault.Is(err, fault.Refused) {
		return a, err
	}
	return s.find(ctx, a.Company, a.ID)
}

// taken tells whether a unit was refused because somebody else has just ended an
// attempt, taken it up, or redirected the account.
func taken(err error) bool {
	return ledger.Is(err, ledger.Moved, accountTable) || settlement.Redirected(err)
}
