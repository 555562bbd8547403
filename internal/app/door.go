package app

import (
	"context"
	"time"
)

// lookAtDoor is how often a program asks whether the companies' door is closed.
const lookAtDoor = time.Second

// meetDatabase closes the companies' door if the database is an old copy.
func (a *App) meetDatabase(ctx context.Context) error {
	if err := a.Deployment.Begin(ctx, a.Operators.Shut); err != nil {
		return err
	}
	return a.seeDoor(ctx)
}

// seeDoor notices that the companies' door was closed or opened, by whomever.
func (a *App) seeDoor(ctx context.Context) error {
	d, err := a.Operators.Door(ctx)
	if err != nil {
		return err
	}
	switch was := a.closed.Swap(d.Closed); {
	case d.Closed && !was:
		a.log.Warn("the companies' door is closed; kobo door open lets them in", "reason", d.Reason, "since", d.Since)
	case was && !d.Closed:
		a.log.Info("the companies' door is open")
	}
	return nil
}

func (a *App) watchDoor(ctx context.Context) {
	tick := time.NewTicker(lookAtDoor)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := a.seeDoor(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("it cannot be seen whether the companies' door is closed", "error", err)
		}
	}
}
