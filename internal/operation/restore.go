package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// restoreBatch is how many PENDING operations Restore reads at a time.
const restoreBatch = 500

// Restore reads the PENDING operations of all companies, and restores what is missing. If an
// operation has a next requery but no job, Restore adds the job. If an operation waits for
// operators but has no open case, Restore opens the case. Several programs may run Restore
// concurrently, since each job and each case can exist only once.
//
// If one operation fails, Restore continues with the remaining operations, and returns all errors
// at the end. A restored job is due at the operation's next requery.
func (s *Service) Restore(ctx context.Context) error { return s.restore(ctx, "", pendingAfter) }

// RestoreLost does the same as Restore, but reads only the operations of companies that have lost
// a job or a case. It finds these companies by their money: the clearing accounts of a company hold
// exactly the money of its PENDING operations. If the operations with a job or an open case have
// less money, another operation is PENDING.
func (s *Service) RestoreLost(ctx context.Context) error {
	companies, err := s.book.Clearing(ctx)
	for _, company := range companies {
		lost, failed := s.hasLost(ctx, company)
		if lost {
			s.log.Warn("clearing accounts hold money of operations without a job", "company", company)
			failed = s.restore(ctx, company, pendingIn)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// hasLost reports whether a company's clearing accounts hold other money than its operations with a
// job or an open case.
func (s *Service) hasLost(ctx context.Context, company string) (lost bool, err error) {
	err = s.db.Snapshot(ctx, func(q db.Querier) error {
		held, err := ledger.InClearing(ctx, q, company)
		if err != nil {
			return err
		}
		open, err := openOf(ctx, q, company)
		if err != nil {
			return err
		}
		pending, err := pendingMoney(ctx, q, company, open)
		lost = held != pending
		return err
	})
	return lost, err
}

// restore restores what the operations of a walk lack. The function after returns the next page of
// the walk.
func (s *Service) restore(ctx context.Context, company string, after func(ctx context.Context, q db.Querier, company, operationID string) ([]Operation, error)) error {
	var operationID string
	var failed error
	for {
		var page, lost []Operation
		// An outcome removes the job. So the operations and their jobs are read as of one instant.
		err := s.db.Snapshot(ctx, func(q db.Querier) (err error) {
			if page, err = after(ctx, q, company, operationID); err == nil {
				lost, err = unfollowed(ctx, q, page)
			}
			return err
		})
		if err != nil || len(page) == 0 {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, s.follow(ctx, lost))
		last := page[len(page)-1]
		company, operationID = last.Company, last.ID
	}
}

// follow adds the jobs, and opens the cases, that these operations lack.
func (s *Service) follow(ctx context.Context, lost []Operation) (failed error) {
	var jobs []db.Record
	for _, o := range lost {
		if !o.NextAt.IsZero() {
			s.log.Warn("an operation has lost its job, which is restored", "company", o.Company, "operation", o.ID)
			jobs = append(jobs, o.resolveJob().Record())
			continue
		}
		if _, err := s.AskAbout(ctx, o); err != nil && !errors.Is(err, ErrDecided) {
			failed = errors.Join(failed, fmt.Errorf("operation %s of %s: %w", o.ID, o.Company, err))
		}
	}
	if len(jobs) > 0 {
		failed = errors.Join(failed, s.db.Insert(ctx, jobs...))
	}
	return failed
}

// unfollowed returns those of the PENDING operations in open that have no job. They must be sorted
// by company.
func unfollowed(ctx context.Context, q db.Querier, open []Operation) (lost []Operation, err error) {
	for len(open) > 0 && err == nil {
		n := 1
		for n < len(open) && open[n].Company == open[0].Company {
			n++
		}
		ids := make([]string, n)
		for i, o := range open[:n] {
			ids[i] = o.ID
		}
		var there map[string]bool
		there, err = job.Subjects(ctx, q, open[0].Company, ResolveJob, ids)
		for _, o := range open[:n] {
			if !there[o.ID] {
				lost = append(lost, o)
			}
		}
		open = open[n:]
	}
	return lost, err
}

// ErrDecided means that an operation has got its outcome since it was read.
var ErrDecided = errors.New("operation: the outcome is known by now")

// AskAbout opens a case about an operation that has been PENDING for too long, or returns its
// open case. The error is ErrDecided if the operation has an outcome.
func (s *Service) AskAbout(ctx context.Context, o Operation) (Case, error) {
	c := Case{Company: o.Company, Subject: o.ID, Reason: Unresolved, Detail: "no outcome after 72 hours; last answer: " + o.Code}
	u := ledger.For(o.Company)
	u.Transition(operations.Record(o), string(Pending)).Only()
	asked, err := s.askAgain(ctx, c, u, func(Case) bool { return false })
	if ledger.Is(err, ledger.Moved) {
		err = ErrDecided
	}
	return asked, err
}
