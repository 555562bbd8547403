package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/erasure"
	"github.com/kobo-waas/kobo/internal/evidence"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// HidesSecrets reports whether operators must not see an API key or a PIN of a company. Then they
// hand out tokens, which the company exchanges itself.
func (a *App) HidesSecrets() bool { return a.cfg.Mode.rules().hidesSecrets && a.FourEyes() }

// meetDatabase makes the database belong to the program's environment. It closes API access if the database was restored from an old copy, or if its history does
// not continue the checkpoints in the second place. Then it reads from the database whether API access
// is closed.
func (a *App) meetDatabase(ctx context.Context) error {
	if err := a.Deployment.Claim(ctx, a.cfg.Mode.Environment()); err != nil {
		return err
	}
	if err := a.Deployment.Begin(ctx, a.shutRestored); err != nil {
		return err
	}
	if a.cfg.Mode.rules().warnsOfExposure && a.cfg.CheckpointFolder == "" {
		a.log.Warn("checkpoint_folder is not set: only checkpoints that companies have kept show that the newest history was removed")
	}
	if err := errors.Join(a.Evidence.Begin(ctx), a.Operators.EndAdoption(ctx)); err != nil {
		return err
	}
	return a.readAccess(ctx)
}

// shutRestored closes API access of a restored database, and holds the moves of purchases.
func (a *App) shutRestored(ctx context.Context, q db.Querier, reason string) error {
	if err := a.Operators.HoldMoves(ctx, q, operator.Itself(), true, reason); err != nil {
		return err
	}
	return a.Operators.Shut(ctx, q, reason)
}

// Trees returns the service that checks the trees of a database, for a command that opens only the
// database.
func (c Config) Trees(d *db.DB) (*evidence.Service, error) {
	ring, err := c.evidence()
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	return evidence.New(evidence.Config{
		DB: d, Clock: clock.System{}, Log: log, Keys: ring.CheckpointKeys(), Folder: c.CheckpointFolder,
		Name: deployment.New(d, clock.System{}, log, "").Name,
	}), nil
}

// newEvidence returns the service of checkpoints and receipts.
func (a *App) newEvidence(ring *secret.Keyring) *evidence.Service {
	return evidence.New(evidence.Config{
		DB: a.DB, Book: a.Book, Events: a.Events, Clock: a.Clock, Log: a.log, Keys: ring.CheckpointKeys(), Name: a.Deployment.Name,
		Folder: a.cfg.CheckpointFolder, Close: a.shutRestored,
		Hidden: func(account string) bool { return strings.HasPrefix(account, settlement.ChargeAccount("")) },
	})
}

// newErasures returns the service that erases customers.
func (a *App) newErasures(keys *secret.Keyring) *erasure.Service {
	return erasure.New(erasure.Config{
		DB: a.DB, Book: a.Book, Clock: a.Clock, Log: a.log, Ring: keys, Customers: a.Customers, Cards: a.Cards, Identities: a.Customers.Identities,
		Operations: a.Operations, Keys: a.Keys, Events: a.Events, Erasing: a.Evidence.Erasing, Years: a.cfg.IdentityRetention,
	})
}

// readAccess reads from the database whether API access is closed, and logs each change.
func (a *App) readAccess(ctx context.Context) error {
	d, err := a.Operators.Access(ctx)
	if err != nil {
		return err
	}
	held, err := deployment.MovesHeld(ctx, a.DB)
	if err != nil {
		return err
	}
	if a.movesHeld.Load() && !held {
		const ahead = time.Minute                                     // the clock of another program
		a.restoredUntil.Store(clock.Micros(a.Clock.Now().Add(ahead))) // by the clock of the operations, which the operator's command may not have
	}
	a.movesHeld.Store(held)
	a.shut.Store(whyClosed(d))
	switch was := a.closed.Swap(d.Closed); {
	case d.Closed && !was:
		a.log.Warn("API access is closed; kobo door open opens it", "reason", d.Reason, "since", d.Since)
	case was && !d.Closed:
		a.log.Info("API access is open")
	}
	return a.readHoldsEnd(ctx)
}

// readHoldsEnd reads once after the start when operators last ended a hold of moves. The clock of their command may have been behind.
func (a *App) readHoldsEnd(ctx context.Context) error {
	const behind = time.Hour
	if a.holdsEndRead.Load() {
		return nil
	}
	allowed, err := a.Operators.MovesAllowedAt(ctx)
	if err != nil {
		return err
	}
	if !allowed.IsZero() {
		a.restoredUntil.CompareAndSwap(0, clock.Micros(allowed.Add(behind)))
	}
	a.holdsEndRead.Store(true)
	return nil
}

func (a *App) watchAccess(ctx context.Context) time.Duration {
	a.warn(ctx, a.readAccess(ctx), "the state of API access cannot be read")
	return time.Second
}
