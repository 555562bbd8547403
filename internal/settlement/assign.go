package settlement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
)

// AssignJob is the kind of job that brings money which was in suspense into the
// book of the company whose it is.
const AssignJob = "settlement.assign"

// assignStep is the step of a credit in suspense that takes it out: no step is
// taken twice.
const assignStep = "assign"

// assigned is the house's half of an operator's finding that the money of an
// unknown account is a company's: it leaves suspense, and a job in the same unit
// brings it to the company, whose book is another. So there is no moment at which
// it is in neither book and nobody is on the way with it.
func (s *Service) assigned(ctx context.Context, c operation.Case, f operation.Finding, _ bool) (ledger.Unit, error) {
	if err := s.mayTake(ctx, f); err != nil {
		return ledger.Unit{}, err
	}
	credit, err := s.suspended(ctx, c)
	if err != nil {
		return ledger.Unit{}, err
	}
	u := ledger.Unit{Company: House}
	s.give(&u, credit, c.ID, f.Target)
	return u, nil
}

// mayTake tells whether a finding names a company's account that may be credited.
func (s *Service) mayTake(ctx context.Context, f operation.Finding) error {
	if f.Target == House {
		return errNoCompany
	}
	ok, err := s.Active(ctx, f.Target, f.TargetID)
	if err == nil && !ok {
		err = errNoAccount
	}
	return err
}

// give takes a credit out of suspense and has it brought to a company.
func (s *Service) give(u *ledger.Unit, credit Credit, caseID, company string) {
	u.Transfers = append(u.Transfers, ledger.Transfer{
		Reference: credit.ID, Step: assignStep, Debit: SuspenseAccount, Credit: ProviderAccount(credit.Provider), Amount: credit.Amount,
		Kind: "assign", Narration: "to company " + company,
	})
	u.Notes = append(u.Notes, job.New(House, AssignJob, caseID, s.clock.Now()))
}

// suspended is the credit that a case of an unknown account is about.
func (s *Service) suspended(ctx context.Context, c operation.Case) (Credit, error) {
	credit, err := s.suspendedIn(ctx, c.Subject)
	if errors.Is(err, db.ErrNone) || err == nil && c.Company != House {
		return Credit{}, fault.New(fault.Refused, "There is no money in suspense for this case")
	}
	return credit, err
}

// Assign is the work of an AssignJob: the company's half. It may be done again,
// and credits once.
func (s *Service) Assign(ctx context.Context, j job.Job) (time.Time, error) {
	c, err := s.operations.FindCase(ctx, j.Subject)
	if err != nil {
		return time.Time{}, err
	}
	if c.State != operation.Resolved || c.Outcome != operation.Assigned {
		return time.Time{}, fmt.Errorf("settlement: case %s assigns nothing", c.ID)
	}
	credit, err := s.suspended(ctx, c)
	if err != nil {
		return time.Time{}, err
	}
	credit.ID = id.New()
	now := s.clock.Now()
	err = s.book.Commit(ctx, s.creditUnit(c.Target, credit, Taking{
		SettlementID: c.TargetID,
		Notes:        []db.Record{event.New(c.Target, event.SettlementCredit, credit.told(c.TargetID, now))},
	}))
	if ledger.Is(err, ledger.Exists, creditTable) {
		return time.Time{}, nil
	}
	return time.Time{}, err
}
