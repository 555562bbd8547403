package app

import (
	"context"
	"time"
)

// meetDatabase closes API access if the database is an old copy.
func (a *App) meetDatabase(ctx context.Context) error {
	if err := a.Deployment.Begin(ctx, a.Operators.Shut); err != nil {
		return err
	}
	return a.readAccess(ctx)
}

// readAccess notices that somebody has opened or closed API access.
func (a *App) readAccess(ctx context.Context) error {
	d, err := a.Operators.Door(ctx)
	if err != nil {
		return err
	}
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
