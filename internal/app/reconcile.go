package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// reconcileJob holds the statement of the bank that the subject names against
// our books.
const reconcileJob = "app.reconcile"

const (
	reconcileEvery = 24 * time.Hour
	// Reach is how far the daily comparison looks back: a day that could not be
	// compared is compared by the next.
	Reach = 72 * time.Hour
	// A statement of three days can have thousands of pages.
	reconcileLimit = time.Hour
)

// Reconcile compares every bank with our books as far back as reach, and has a
// human asked about each break, once however often it is found. A bank that
// cannot be read does not keep the others from being compared.
func (a *App) Reconcile(ctx context.Context, reach time.Duration) ([]report.Reconciliation, error) {
	var all []report.Reconciliation
	var failed error
	for _, name := range slices.Sorted(maps.Keys(a.banks)) {
		r, err := a.reconcile(ctx, name, a.banks[name], reach)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reconcile: %s: %w", name, err))
			continue
		}
		all = append(all, r)
	}
	return all, failed
}

// reconcile brings the books up to date before it compares, so that a night
// without the program is no night of missing credits: what the bank lists is
// credited, and of a payout that came back the bank is asked, as it would be if
// it told of it.
func (a *App) reconcile(ctx context.Context, bank string, book provider.Bookkeeper, reach time.Duration) (report.Reconciliation, error) {
	to := a.Clock.Now()
	if err := a.Inbox.CatchUp(ctx, bank); err != nil {
		return report.Reconciliation{}, fmt.Errorf("what came in was not caught up with: %w", err)
	}
	r, err := a.Reports.Reconcile(ctx, bank, book, to.Add(-reach), to)
	if err == nil && a.askAgain(ctx, r) {
		r, err = a.Reports.Reconcile(ctx, bank, book, to.Add(-reach), to)
	}
	if err != nil {
		return r, err
	}
	for i, b := range r.Breaks {
		c := b.Asked()
		c.Detail = bank + ": " + c.Detail
		if r.Breaks[i].Case, err = a.Settlements.Raise(ctx, c, r.Judged()); err != nil {
			return r, err
		}
	}
	return r, nil
}

// askAgain asks the bank about the payouts whose money it gave back and of which
// we were not told, and tells whether there were any. What it cannot say stays a
// break.
func (a *App) askAgain(ctx context.Context, r report.Reconciliation) (asked bool) {
	for _, b := range r.Breaks {
		if b.Reason != operation.FailedReversal || b.Bank >= b.Book {
			continue
		}
		switch err := a.Payouts.Notified(ctx, b.Subject); {
		case err == nil:
			asked = true
		case !fault.Is(err, fault.Missing): // which a purchase is
			a.log.Warn("a payout that came back was not asked about", "company", b.Company, "operation", b.Subject, "error", err)
		}
	}
	return asked
}

// leased is a bank whose statement is read by a job: each page holds on to it.
type leased struct {
	provider.Bookkeeper
	renew func(context.Context) error
}

func (l leased) Statement(ctx context.Context, from, to time.Time, page int) ([]provider.StatementLine, bool, error) {
	if err := l.renew(ctx); err != nil {
		return nil, false, err
	}
	return l.Bookkeeper.Statement(ctx, from, to, page)
}

// reconcileDaily is the work of a reconcileJob. Money that is stuck is listed
// also when the bank does not show its statement.
func (a *App) reconcileDaily(ctx context.Context, j job.Job) (time.Time, error) {
	book, there := a.banks[j.Subject]
	if !there {
		return time.Time{}, nil // not configured any more
	}
	if a.closed.Load() {
		// After a restore the sweep comes first: what it credits is not missing.
		return a.Clock.Now().Add(5 * time.Minute), nil
	}
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	r, err := a.reconcile(ctx, j.Subject, leased{book, func(ctx context.Context) error { return a.Worker.Renew(ctx, j) }}, Reach)
	if err = errors.Join(err, a.warnOverdue(ctx)); err != nil {
		return time.Time{}, err
	}
	open, err := a.Operations.OpenBreaks(ctx)
	if err != nil {
		return time.Time{}, err
	}
	a.log.Info("a bank's statement was compared", "bank", r.Bank, "lines", r.Lines,
		"payments", r.Payments, "credits", r.Receipts, "breaks", r.Undecided(), "decided", len(r.Breaks)-r.Undecided(), "open", len(open))
	return a.Clock.Now().Add(reconcileEvery), nil
}

// Overdue lists the money that has been in clearing for too long, and has a human
// asked about each operation whose money it is, once however often it is listed.
func (a *App) Overdue(ctx context.Context) ([]report.Overdue, error) {
	old, err := a.Reports.Overdue(ctx)
	for i := range old {
		for _, o := range old[i].Operations {
			c, failed := a.Operations.AskAbout(ctx, o)
			switch {
			case errors.Is(failed, operation.ErrDecided):
			case failed != nil:
				err = errors.Join(err, failed)
			default:
				old[i].Cases = append(old[i].Cases, c)
			}
		}
	}
	return old, err
}

// warnOverdue says which clearing accounts have held money for too long.
func (a *App) warnOverdue(ctx context.Context) error {
	old, err := a.Overdue(ctx)
	for _, c := range old {
		a.log.Warn("money has been in clearing for 72 hours", "company", c.Company, "account", c.Account,
			"amount", c.Amount, "operations", len(c.Operations), "first", c.Operations[0].ID)
	}
	return err
}

// planReconciliation puts the daily comparison of each bank on the list, unless
// it is there.
func (a *App) planReconciliation(ctx context.Context) error {
	var jobs []db.Record
	for _, name := range slices.Sorted(maps.Keys(a.banks)) {
		jobs = append(jobs, job.Job{
			Company: settlement.House, Kind: reconcileJob, Subject: name, Provider: name, RunAt: a.Clock.Now().Add(reconcileEvery),
		}.Record())
	}
	return a.DB.Insert(ctx, jobs...)
}
