package app

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/request"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// newWorker returns a worker with the functions for all kinds of background jobs.
func (a *App) newWorker() *job.Worker {
	cfg := a.Inbox.Jobs()
	maps.Copy(cfg.Kinds, map[string]job.Work{
		operation.ResolveJob:  a.Operations.Resolve,
		payout.BulkCheckJob:   a.Payouts.CheckBulk,
		payout.BulkSendJob:    a.Payouts.SendBulk,
		operation.RecheckJob:  a.Operations.Recheck,
		operation.AttemptJob:  a.Shop.CheckAttempt,
		settlement.AssignJob:  a.Settlements.Assign,
		crypto.WatchJob:       a.Crypto.Watch,
		crypto.ConfirmJob:     a.Crypto.Confirm,
		card.ResolveJob:       a.Cards.Resolve,
		card.ChangeJob:        a.Cards.CompleteChange,
		card.ReturnJob:        a.Cards.Returned,
		customer.ResolveJob:   a.Customers.Resolve,
		corporate.ResolveJob:  a.Corporate.Resolve,
		reconcileJob:          a.reconcileDaily,
		report.WalkJob:        a.walkLedgers,
		report.HoursJob:       a.countHours,
		report.RevenueJob:     a.addRevenue,
		evidence.SignJob:      a.Evidence.Sign,
		erasure.Job:           a.Erasures.Complete,
		keyring.RevokeJob:     a.Keyring.Revoke,
		webhook.ClearJob:      a.Webhooks.Clear,
		request.ClearJob:      a.Requests.Clear,
		idempotency.ClearJob:  a.Keys.Clear,
		collection.ExpireJob:  a.Collections.Expire,
		collection.ResolveJob: a.Collections.Resolve,
	})
	cfg.Limits = job.Limits{Workers: a.cfg.Jobs.Workers, Reserved: a.cfg.Jobs.Inbox, PerProvider: a.cfg.Jobs.PerProvider}
	return job.NewWorker(a.DB, a.Clock, a.log, cfg)
}

// startJobs starts the background work, which runs until ctx ends.
func (a *App) startJobs(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	a.Worker.Follow(a.Book)
	for _, run := range []func(context.Context){a.Worker.Run, a.Webhooks.Run, a.Requests.Run, a.Deployment.Run, a.Keyring.Run, a.Crypto.Follow} {
		all.Go(func() { run(ctx) })
	}
	again := []func(context.Context) time.Duration{a.syncLists, a.askWallets, a.watchAccess, a.followCompanies, a.restoreJobs, a.rewatchAddresses, a.reloadCertificates}
	if a.sandbox != nil {
		again = append(again, a.sandbox.watch)
	}
	for _, do := range again {
		all.Go(func() { repeat(ctx, do) })
	}
	return &all
}

// repeat calls do until ctx ends. The function do returns the pause before its next call.
func repeat(ctx context.Context, do func(context.Context) time.Duration) {
	for {
		pause := do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// warn logs an error, unless the program is stopping.
func (a *App) warn(ctx context.Context, err error, what string) {
	if err != nil && ctx.Err() == nil {
		a.log.Warn(what, "error", err)
	}
}

// FollowPace is the pause between two rounds in which a program reads the changes that other programs have made to
// companies. So what one program ends, the others refuse within a second.
const FollowPace = 250 * time.Millisecond

// followCompanies applies the changes that other programs have made to companies: revoked API keys, KYB,
// the switch and the request limit. It returns the pause until its next call.
func (a *App) followCompanies(ctx context.Context) time.Duration {
	if err := a.Companies.Follow(ctx); err != nil {
		a.warn(ctx, err, "the changes of companies cannot be read")
		return time.Second
	}
	return FollowPace
}

// planJobs adds the recurring jobs. It also brings jobs forward that a program planned while its clock was ahead.
func (a *App) planJobs(ctx context.Context) error {
	return errors.Join(
		a.Inbox.Plan(ctx), a.planReconciliation(ctx), a.Webhooks.Begin(ctx), a.Requests.Begin(ctx), a.Reports.Begin(ctx),
		a.Keys.Begin(ctx), a.Keyring.Plan(ctx), a.Evidence.Plan(ctx),
		job.Recover(ctx, a.DB, a.Clock.Now(), followed...),
	)
}

// followed are the kinds of jobs that follow something, such as a payment, with pauses of at most 90 minutes, and that do no harm when
// they run early. The job of a checked bulk payout waits longer, until nobody may confirm it any more, and that of a failed deposit waits
// for a day. Both return to their times.
var followed = []string{
	operation.ResolveJob, payout.BulkCheckJob, payout.BulkSendJob, card.ResolveJob, card.ChangeJob, card.ReturnJob,
	customer.ResolveJob, corporate.ResolveJob, collection.ResolveJob, crypto.ConfirmJob, crypto.WatchJob, settlement.AssignJob, inbox.WorkJob,
}

// restoreJobs creates jobs for open operations that have lost theirs, and plans the recurring jobs again, in case the clock has
// been ahead. While API access is closed, for example because the database is a restored copy, it reads all open operations. It
// returns the pause until its next call: an hour, or a minute after an error.
func (a *App) restoreJobs(ctx context.Context) time.Duration {
	restore := a.Operations.RestoreLost
	if a.closed.Load() {
		restore = a.Operations.Restore
	}
	err := restore(ctx)
	a.warn(ctx, err, "the lost jobs of operations were not restored")
	unplanned := a.planJobs(ctx)
	a.warn(ctx, unplanned, "the recurring jobs were not planned")
	if err != nil || unplanned != nil {
		return time.Minute
	}
	return time.Hour
}

// rewatchAddresses creates jobs for the deposit addresses that the custodian of their network does not
// watch yet, because it has taken the network over. It returns the pause until its next call: a minute
// after an error, an hour after it has found such addresses, and otherwise a day.
func (a *App) rewatchAddresses(ctx context.Context) time.Duration {
	found, err := a.Crypto.Rewatch(ctx)
	a.warn(ctx, err, "the addresses of an earlier custodian were not read")
	switch {
	case err != nil:
		return time.Minute
	case found > 0:
		return time.Hour
	}
	return 24 * time.Hour
}

// syncLists copies the billers' catalogues and the banks' lists of all banks when a new copy is
// due. It returns the pause until its next call.
func (a *App) syncLists(ctx context.Context) time.Duration {
	a.warn(ctx, a.Shop.SyncDue(ctx), "a biller's catalogue was not copied")
	a.warn(ctx, a.Payouts.SyncDue(ctx), "a list of banks was not copied")
	return 30 * time.Second
}

// askWallets asks the providers for the balances of our wallets when they are due. It returns the pause
// until its next call.
func (a *App) askWallets(ctx context.Context) time.Duration {
	a.warn(ctx, a.wallets.Ask(ctx), "the balance of a wallet was not read")
	return 30 * time.Second
}

// walkLedgers runs a report.WalkJob, and logs each difference that a walk has found. It does not run
// while the program lacks a key of another program, whose rows would look altered.
func (a *App) walkLedgers(ctx context.Context, _ job.Job) (time.Time, error) {
	if err := a.Keyring.Wrong(); err != nil {
		return time.Time{}, err
	}
	wrongs, next, err := a.Reports.Walk(ctx)
	for _, w := range wrongs {
		a.log.Error("a ledger does not add up", "finding", w)
	}
	return next, err
}

// countHours runs a report.HoursJob.
func (a *App) countHours(ctx context.Context, _ job.Job) (time.Time, error) {
	return a.Reports.CountHours(ctx, a.Events.Since)
}

// addRevenue runs a report.RevenueJob.
func (a *App) addRevenue(ctx context.Context, _ job.Job) (time.Time, error) {
	return a.Reports.AddRevenue(ctx)
}
