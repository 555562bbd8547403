package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
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
	// A comparison must end before its job's lease does.
	reconcileLimit = 100 * time.Second
)

// bookkeepers are the banks as those who keep statements.
func (p plugs) bookkeepers() map[string]provider.Bookkeeper {
	out := map[string]provider.Bookkeeper{}
	for name, b := range p.banks {
		out[name] = b
	}
	return out
}

// Reconcile compares every bank with our books as far back as reach, and has a
// human asked about each break, once however often it is found. A bank that
// cannot be read does not keep the others from being compared.
func (a *App) Reconcile(ctx context.Context, reach time.Duration) ([]report.Reconciliation, error) {
	var all []report.Reconciliation
	var failed error
	for _, name := range slices.Sorted(maps.Keys(a.books)) {
		r, err := a.reconcile(ctx, name, reach)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reconcile: %s: %w", name, err))
			continue
		}
		all = append(all, r)
	}
	return all, failed
}

func (a *App) reconcile(ctx context.Context, bank string, reach time.Duration) (report.Reconciliation, error) {
	r, err := a.Reports.Reconcile(ctx, bank, a.books[bank], a.Clock.Now().Add(-reach))
	if err != nil {
		return r, err
	}
	for _, b := range r.Breaks {
		detail := bank + ": " + b.Detail
		if b.Company == settlement.House {
			err = a.Settlements.Ask(ctx, b.Subject, b.Reason, detail)
		} else {
			err = a.Operations.OpenCase(ctx, b.Company, b.Subject, b.Reason, detail)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// reconcileDaily is the work of a reconcileJob.
func (a *App) reconcileDaily(ctx context.Context, j job.Job) (time.Time, error) {
	if a.books[j.Subject] == nil {
		return time.Time{}, nil // not configured any more
	}
	ctx, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	r, err := a.reconcile(ctx, j.Subject, Reach)
	if err != nil {
		return time.Time{}, err
	}
	a.log.Info("a bank's statement was compared", "bank", r.Bank, "lines", r.Lines,
		"payments", r.Payments, "credits", r.Receipts, "breaks", len(r.Breaks))
	old, err := a.Reports.Overdue(ctx)
	if err != nil {
		return time.Time{}, err
	}
	for _, c := range old {
		a.log.Warn("money has been in clearing for 72 hours", "company", c.Company, "account", c.Account,
			"amount", c.Amount, "operations", len(c.Operations), "first", c.Operations[0].ID)
	}
	return a.Clock.Now().Add(reconcileEvery), nil
}

// planReconciliation puts the daily comparison of each bank on the list, unless
// it is there.
func (a *App) planReconciliation(ctx context.Context) error {
	var jobs []db.Record
	for name := range a.books {
		jobs = append(jobs, job.New(settlement.House, reconcileJob, name, a.Clock.Now().Add(reconcileEvery)))
	}
	return job.Add(ctx, a.DB, jobs...)
}
