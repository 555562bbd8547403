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
func (s *Service) Restore(ctx context.Context) error {
	var company, operationID string
	var failed error
	for {
		page, err := s.pendingAfter(ctx, company, operationID, restoreBatch)
		if err != nil || len(page) == 0 {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, s.restorePage(ctx, page))
		last := page[len(page)-1]
		company, operationID = last.Company, last.ID
	}
}

// restorePage restores the jobs and cases of a page of operations, which must be sorted by
// company.
func (s *Service) restorePage(ctx context.Context, page []Operation) error {
	var jobs []db.Record
	var undecided []Operation
	for len(page) > 0 {
		n := 1
		for n < len(page) && page[n].Company == page[0].Company {
			n++
		}
		lost, err := s.unfollowed(ctx, page[:n])
		if err != nil {
			return err
		}
		for _, o := range lost {
			if o.NextAt.IsZero() {
				undecided = append(undecided, o)
				continue
			}
			s.log.Warn("an operation has lost its job, which is restored", "company", o.Company, "operation", o.ID)
			jobs = append(jobs, o.resolveJob().Record())
		}
		page = page[n:]
	}
	var failed error
	if len(jobs) > 0 {
		failed = s.db.Insert(ctx, jobs...)
	}
	for _, o := range undecided {
		if _, err := s.AskAbout(ctx, o); err != nil && !errors.Is(err, ErrDecided) {
			failed = errors.Join(failed, fmt.Errorf("operation %s of %s: %w", o.ID, o.Company, err))
		}
	}
	return failed
}

// unfollowed returns those of the PENDING operations in open that have no job. All of them must
// belong to one company.
func (s *Service) unfollowed(ctx context.Context, open []Operation) (lost []Operation, err error) {
	ids := make([]string, len(open))
	for i, o := range open {
		ids[i] = o.ID
	}
	there, err := job.Subjects(ctx, s.db, open[0].Company, ResolveJob, ids)
	for _, o := range open {
		if !there[o.ID] {
			lost = append(lost, o)
		}
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
