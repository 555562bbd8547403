package app

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/archive"
)

// Archive moves old events of all companies into files below a folder. It calls moved after each
// month. It returns the companies with events that must wait.
func (a *App) Archive(ctx context.Context, folder string, moved func(archive.Month)) ([]archive.Held, error) {
	if a.cfg.Events.KeepMonths == 0 {
		return nil, errors.New("events.keep_months is not set, so all events stay")
	}
	s := archive.Service{DB: a.DB, Events: a.Events, Webhooks: a.Webhooks, Clock: a.Clock, Folder: folder, Covered: a.Evidence.Covered}
	return s.Run(ctx, a.cfg.Events.KeepMonths, moved)
}
