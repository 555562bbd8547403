package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// reconcileJob is the kind of job that compares a bank's statement with the ledger. The job's
// subject is the bank's name.
const reconcileJob = "app.reconcile"

const (
	reconcileEvery = 24 * time.Hour
	// Reach is the period that the daily comparison covers.
	Reach = 72 * time.Hour
	// overlap is how much of what the last comparison covered the next one covers again, because the bank may give money back days
	// after it took it.
	overlap = Reach - reconcileEvery
	// reconcileLimit is the timeout of a comparison for each Reach that it covers. A statement of three days may have
	// thousands of pages.
	reconcileLimit = time.Hour
)

// Reconcile compares the statement of every bank with the ledger. The compared period ends now and
// is as long as reach, or longer if earlier comparisons have failed. It opens one case for each
// break. If the statement of one bank cannot be read, the other banks are still compared.
func (a *App) Reconcile(ctx context.Context, reach time.Duration) ([]report.Reconciliation, error) {
	var all []report.Reconciliation
	var failed error
	for _, name := range slices.Sorted(maps.Keys(a.plugs.banks)) {
		reach, err := a.reachOf(ctx, name, reach)
		var r report.Reconciliation
		if err == nil {
			r, err = a.reconcile(ctx, name, leased{a.plugs.banks[name], func(context.Context) error { return nil }}, reach)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reconcile: %s: %w", name, err))
			continue
		}
		all = append(all, r)
	}
	return all, failed
}

// reconcile updates the ledger before the comparison, since notifications may be missing. It books
// the credits on the bank's lists of credits. For each payout that the bank returned, it asks the
// bank for the status, as after a notification.
//
// It keeps the result of the comparison, or why there is none.
func (a *App) reconcile(ctx context.Context, bank string, book leased, reach time.Duration) (report.Reconciliation, error) {
	r, err := a.compare(ctx, bank, book, reach)
	if err != nil {
		// The reason is kept even if the time of the comparison is over.
		return r, errors.Join(err, a.Reports.NotReconciled(context.WithoutCancel(ctx), bank, err))
	}
	return r, a.Reports.Reconciled(ctx, r)
}

// reachOf returns how far back a comparison goes: as far as least, and further if none has succeeded for days. Otherwise nobody would
// ever compare these days. It goes back to each day for which charges were booked since the last one, too. While the case was open, the
// bank may have added charges to the day. It also goes back to each day with a difference that was decided for less than it is.
func (a *App) reachOf(ctx context.Context, bank string, least time.Duration) (time.Duration, error) {
	last, err := a.Reports.ComparedAt(ctx, bank)
	if err != nil || last.IsZero() {
		return least, err
	}
	now := a.Clock.Now()
	// Shortly after the decision a comparison takes the rest of a day for decided. So the next one covers the day again.
	booked, err := a.Reports.BookedFor(ctx, bank, now.Add(-report.LongestReach), last.Add(-reconcileEvery))
	if err != nil {
		return least, err
	}
	part, err := a.Reports.PartlyExplained(ctx, bank, now.Add(-report.LongestReach))
	if err != nil {
		return least, err
	}
	reach := least
	if missed := now.Sub(last) + overlap; missed > max(least, Reach) {
		reach = max(least, min(missed, report.LongestReach))
	}
	for _, day := range []time.Time{booked, part} {
		if !day.IsZero() {
			reach = max(reach, min(now.Sub(day), report.LongestReach))
		}
	}
	return reach, nil
}

func (a *App) compare(ctx context.Context, bank string, book leased, reach time.Duration) (report.Reconciliation, error) {
	to := a.Clock.Now()
	if err := a.Inbox.CatchUp(ctx, bank, book.renew); err != nil {
		return report.Reconciliation{}, fmt.Errorf("the credits on the bank's list were not recorded: %w", err)
	}
	r, err := a.Reports.Reconcile(ctx, bank, book, to.Add(-reach), to)
	if err == nil && a.askAboutReturned(ctx, r) {
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

// askAboutReturned asks the bank for the status of each payout that the bank returned without a
// notification. It reports whether there was such a payout. If the bank does not reply, the
// returned payout remains a break.
func (a *App) askAboutReturned(ctx context.Context, r report.Reconciliation) (asked bool) {
	for _, b := range r.Breaks {
		if b.Reason != operation.FailedReversal || b.Bank >= b.Book {
			continue
		}
		switch err := a.Payouts.Notified(ctx, b.Subject); {
		case err == nil:
			asked = true
		case !fault.Is(err, fault.Missing): // a missing payout is no error, because the operation may be a purchase
			a.log.Warn("the bank was not asked about a returned payout", "company", b.Company, "operation", b.Subject, "error", err)
		}
	}
	return asked
}

// leased reads a bank's statement. Before each page it calls renew, which renews the lease of a job.
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

// reconcileDaily runs a reconcileJob. It warns of overdue money in clearing even if the bank's
// statement cannot be read.
func (a *App) reconcileDaily(ctx context.Context, j job.Job) (time.Time, error) {
	book, there := a.plugs.banks[j.Subject]
	if !there {
		// This program is not configured for the bank, but another program may be. So the job stays.
		return a.Clock.Now().Add(reconcileEvery), nil
	}
	if a.closed.Load() {
		// API access is closed after a restore. The credit poll must run before the comparison. Otherwise
		// the credits that the poll finds would be reported as missing.
		return a.Clock.Now().Add(5 * time.Minute), nil
	}
	reach, err := a.reachOf(ctx, j.Subject, Reach)
	if err != nil {
		return time.Time{}, err
	}
	// A longer statement may take longer. Otherwise a comparison after a long pause could never end.
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit*((reach+report.Earlier+Reach-1)/Reach))
	defer cancel()
	r, err := a.reconcile(ctx, j.Subject, leased{book, func(ctx context.Context) error { return a.Worker.Renew(ctx, j) }}, reach)
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

// Overdue returns the money that has been in clearing for too long. It opens one case for each
// operation that holds such money. The report finds operations by their jobs and cases, so Overdue
// restores lost ones first.
func (a *App) Overdue(ctx context.Context) ([]report.Overdue, error) {
	lost := a.Operations.RestoreLost(ctx)
	old, err := a.Reports.Overdue(ctx)
	err = errors.Join(lost, err)
	var out []report.Overdue
	for _, c := range old {
		found := report.Overdue{Company: c.Company, Account: c.Account}
		for _, o := range c.Operations {
			asked, failed := a.Operations.AskAbout(ctx, o)
			if errors.Is(failed, operation.ErrDecided) {
				continue
			}
			if failed != nil {
				asked, err = operation.Case{}, errors.Join(err, failed)
			}
			found.Amount += o.Amount + o.Fee
			found.Operations, found.Cases = append(found.Operations, o), append(found.Cases, asked)
		}
		if len(found.Operations) > 0 {
			out = append(out, found)
		}
	}
	return out, err
}

// warnOverdue logs the clearing accounts that have held money for too long.
func (a *App) warnOverdue(ctx context.Context) error {
	old, err := a.Overdue(ctx)
	for _, c := range old {
		a.log.Warn("money has been in clearing for 72 hours", "company", c.Company, "account", c.Account,
			"amount", c.Amount, "operations", len(c.Operations), "first", c.Operations[0].ID)
	}
	return err
}

// planReconciliation adds a daily comparison job for each bank, unless that job exists.
func (a *App) planReconciliation(ctx context.Context) error {
	var jobs []job.Job
	for _, name := range slices.Sorted(maps.Keys(a.plugs.banks)) {
		if err := a.Reports.AwaitReconciliation(ctx, name); err != nil {
			return err
		}
		jobs = append(jobs, job.Job{
			Company: settlement.House, Kind: reconcileJob, Subject: name, Provider: name, RunAt: a.Clock.Now().Add(reconcileEvery),
		})
	}
	return job.Plan(ctx, a.DB, jobs...)
}
