package request

import (
	"context"
	"time"
)

// WriteUses writes the last uses of API keys.
func WriteUses(s *Service, ctx context.Context) error { return s.writeUses(ctx) }

// LimitClear changes the longest run of the ClearJob.
func LimitClear(s *Service, longest time.Duration) { s.sweep.Limit = longest }
