package provider

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	listEvery = 6 * time.Hour
	listRetry = 5 * time.Minute
)

// SyncDue calls sync for each provider whose list must be copied again. A list is copied every six
// hours, or five minutes after a failed copy. The function take reports whether a provider's copy
// is due at the time by. If so, take plans the next copy for the time next. If several programs
// share a database, take returns true in only one of them.
func SyncDue[P any](
	ctx context.Context, now time.Time, providers map[string]P,
	take func(ctx context.Context, name string, by, next time.Time) (bool, error),
	sync func(ctx context.Context, name string, p P) error,
) error {
	var all []error
	for name, p := range providers {
		due, err := take(ctx, name, now, now.Add(listEvery))
		if err == nil && due {
			if err = sync(ctx, name, p); err != nil {
				_, failed := take(ctx, name, now.Add(listEvery), now.Add(listRetry))
				err = errors.Join(err, failed)
			}
		}
		if err != nil {
			all = append(all, fmt.Errorf("the list of %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}
