package app

import (
	"context"
	"time"
)

// meetDatabase closes API access if the database was restored from an old copy. Then it reads from
// the database whether API access is closed.
func (a *App) meetDatabase(ctx context.Context) error {
	if err := a.Deployment.Begin(ctx, a.Operators.Shut); err != nil {
		return err
	}
	return a.readAccess(ctx)
}

// readAccess reads from the database whether API access is closed, and logs each change.
func (a *App) readAccess(ctx context.Context) error {
	d, err := a.Operators.Access(ctx)
	if err != nil {
		return err
	}
	a.shut.Store(whyClosed(d))
	switch was := a.closed.Swap(d.Closed); {
	case d.Closed && !was:
		a.log.Warn("API access is closed; kobo door open opens it", "reason", d.Reason, "since", d.Since)
	case was && !d.Closed:
		a.log.Info("API access is open")
	}
	return nil
}

func (a *App) watchAccess(ctx context.Context) time.Duration {
	a.warn(ctx, a.readAccess(ctx), "the state of API access cannot be read")
	return time.Second
}
