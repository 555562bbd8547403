package settlement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
)

// AssignJob is the kind of job that credits a company with money from suspense.
const AssignJob = "settlement.assign"

// assignStep identifies the transfer that takes a credit out of suspense. The ledger accepts that
// transfer only once.
const assignStep = "assign"

// assigned returns the first of two units that assign money of an unknown account to a company.
// This unit takes the money out of suspense in the fintech's own ledger, and enqueues an AssignJob.
// The job later commits the second unit, which credits the money in the company's ledger. The
// transfer out of suspense and the job commit together, so the money cannot be lost.
func (s *Service) assigned(ctx context.Context, c operation.Case, f operation.Finding, _ bool) (ledger.Unit, error) {
	if err := s.MayCredit(ctx, f.Target, f.TargetID); err != nil {
		return ledger.Unit{}, err
	}
	credit, err := s.suspended(ctx, c)
	if err != nil {
		return ledger.Unit{}, err
	}
	u := ledger.For(House)
	s.release(&u, credit, c.ID, f.Target)
	return u, nil
}

// MayCredit returns an error unless a company has an active settlement account with this number.
func (s *Service) MayCredit(ctx context.Context, company string, settlementID int64) error {
	if company == House {
		return errNoCompany
	}
	ok, err := s.Active(ctx, company, settlementID)
	if err == nil && !ok {
		err = errNoAccount
	}
	return err
}

// release adds two things to a unit: the transfer that takes a credit out of suspense, and the
// job that credits the company.
func (s *Service) release(u *ledger.Unit, credit Credit, caseID, company string) {
	u.Transfer(ledger.Transfer{
		Reference: credit.ID, Step: assignStep, Debit: SuspenseAccount, Credit: ProviderAccount(credit.Provider), Amount: credit.Amount,
		Kind: "assign", Narration: "to company " + company,
	})
	u.Append(job.Job{Kind: AssignJob, Subject: caseID, RunAt: s.Clock.Now()}.For(u.Company))
}

// suspended returns the credit in suspense that a case about an unknown account is about.
func (s *Service) suspended(ctx context.Context, c operation.Case) (Credit, error) {
	credit, err := s.suspendedIn(ctx, c.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && c.Company != House {
		return Credit{}, fault.New(fault.Refused, "There is no money in suspense for this case")
	}
	return credit, err
}

// Assign runs an AssignJob: it books the assigned credit in the company's ledger. It may run
// several times, but credits the money only once.
func (s *Service) Assign(ctx context.Context, j job.Job) (time.Time, error) {
	c, err := s.Operations.FindCase(ctx, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	if c.State != operation.Resolved || c.Outcome != operation.Assigned {
		return time.Time{}, fmt.Errorf("settlement: case %s does not end with an assignment", c.ID)
	}
	credit, err := s.suspended(ctx, c)
	if err != nil {
		return time.Time{}, err
	}
	credit.ID = id.New()
	err = s.Book.Commit(ctx, s.creditUnit(c.Target, credit, s.ownBooking(credit, c.TargetID)))
	if ledger.Is(err, ledger.Exists, credits.Table) {
		return time.Time{}, nil
	}
	return time.Time{}, err
}
