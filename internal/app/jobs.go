package app

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/collection"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/webhook"
)

// newWorker is the worker of all kinds of job.
func (a *App) newWorker() *job.Worker {
	cfg := a.Inbox.Jobs()
	maps.Copy(cfg.Kinds, map[string]job.Work{
		operation.ResolveJob:  a.Operations.Resolve,
		operation.RecheckJob:  a.Operations.Recheck,
		settlement.AssignJob:  a.Settlements.Assign,
		crypto.WatchJob:       a.Crypto.Watch,
		crypto.ConfirmJob:     a.Crypto.Confirm,
		card.ResolveJob:       a.Cards.Resolve,
		customer.ResolveJob:   a.Customers.Resolve,
		corporate.ResolveJob:  a.Corporate.Resolve,
		reconcileJob:          a.reconcileDaily,
		webhook.ClearJob:      a.Webhooks.Clear,
		collection.ExpireJob:  a.Collections.Expire,
		collection.ResolveJob: a.Collections.Resolve,
	})
	cfg.Limits = job.Limits{Workers: a.cfg.Jobs.Workers, Reserved: a.cfg.Jobs.Inbox, PerProvider: a.cfg.Jobs.PerProvider}
	return job.NewWorker(a.DB, a.Clock, a.log, cfg)
}

// lookAtLists is how often the program asks itself whether a biller's list is
// due.
const lookAtLists = 30 * time.Second

// startJobs does the work that no request waits for, until ctx ends.
func (a *App) startJobs(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	a.Book.Committed(func([]string) { a.Worker.Wake() })
	all.Go(func() { a.Worker.Run(ctx) })
	all.Go(func() { a.Webhooks.Run(ctx) })
	all.Go(func() { a.syncLists(ctx) })
	all.Go(func() { a.watchDoor(ctx) })
	all.Go(func() { a.restoreJobs(ctx) })
	all.Go(func() { a.Deployment.Run(ctx) })
	all.Go(func() { a.Crypto.Follow(ctx) })
	if a.world != nil {
		all.Go(func() { a.world.watch(ctx) })
	}
	return &all
}

// How often jobs that were lost are looked for, and how soon again if that failed.
const (
	restoreEvery = time.Hour
	restoreAgain = time.Minute
)

// restoreJobs has every open operation followed, from the start on.
func (a *App) restoreJobs(ctx context.Context) {
	for {
		wait := restoreEvery
		if err := a.Operations.Restore(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("lost jobs were not looked for", "error", err)
			wait = restoreAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (a *App) syncLists(ctx context.Context) {
	tick := time.NewTicker(lookAtLists)
	defer tick.Stop()
	for {
		if err := a.Shop.SyncDue(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("a biller's list was not taken over", "error", err)
		}
		if err := a.Payouts.SyncDue(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("the list of banks was not taken over", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
