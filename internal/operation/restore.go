package operation

import (
	"context"
	"errors"
	"fmt"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// restoreBatch is how many open operations are looked at together.
const restoreBatch = 500

// Restore walks through the open operations of all companies. It puts the job back
// of each one that has lost it, and opens the case of each one that waits for a
// human and has none. A job that exists is left as it is. Several programs may
// restore at once: a job and a case are there once.
//
// A failure of one operation does not keep Restore from the others. Restore walks to
// the end, and returns all failures.
//
// The job is due when the next poll is. Polls that were missed are made up for, as
// after a time without a program.
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

// restorePage restores what operations, in order of their companies, have lost.
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

// unfollowed are those of a company's open operations that have no job.
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

// ErrDecided tells that an operation has ended since it was read, and needs no
// human any more.
var ErrDecided = errors.New("operation: the outcome is known by now")

// AskAbout asks for a human's decision about an operation that is open for too
// long. It returns the operation's open case, which may be an earlier one, or
// ErrDecided.
func (s *Service) AskAbout(ctx context.Context, o Operation) (Case, error) {
	c := Case{Company: o.Company, Subject: o.ID, Reason: Unresolved, Detail: "no outcome after 72 hours; last answer: " + o.Code}
	last, err := s.lastCase(ctx, o.Company, o.ID, Unresolved)
	switch {
	case errors.Is(err, db.ErrNone):
	case err != nil || last.State == Open:
		return last, err
	default:
		c.Turn = last.Turn + 1
	}
	u := ledger.For(o.Company)
	u.Transition(operations.Record(o), string(Pending)).Only()
	asked, err := s.ask(ctx, c, u)
	if ledger.Is(err, ledger.Moved) {
		err = ErrDecided
	}
	return asked, err
}
