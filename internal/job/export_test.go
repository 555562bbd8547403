package job

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// HasNews reports whether the worker's next round reads the job list.
func (w *Worker) HasNews() bool { return w.news.Load() }

// Look runs the SQL with which a worker looks at the list.
func Look(ctx context.Context, q db.Querier, queue string, now time.Time) error {
	_, err := queues(ctx, q, now, false)
	if err == nil {
		_, err = due(ctx, q, queue, now, ahead)
	}
	return err
}
