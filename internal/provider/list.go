package provider

import (
	"context"
	"errors"
	"time"
)

const (
	listEvery = 6 * time.Hour
	listRetry = 5 * time.Minute
)

// SyncDue copies a provider's list if the copy is due now: every six hours, or five
// minutes after a failure. Take plans the next copy if one is due by a time. Only one of
// several programs on a database gets true from take.
func SyncDue(
	ctx context.Context, now time.Time, take func(ctx context.Context, by, next time.Time) (bool, error), sync func(ctx context.Context) error,
) error {
	next := now.Add(listEvery)
	due, err := take(ctx, now, next)
	if err != nil || !due {
		return err
	}
	if err = sync(ctx); err != nil {
		_, failed := take(ctx, next, now.Add(listRetry))
		err = errors.Join(err, failed)
	}
	return err
}
