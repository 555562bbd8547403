package idempotency

import "time"

// LimitClear changes the longest run of the ClearJob.
func LimitClear(s *Service, longest time.Duration) { s.sweep.Limit = longest }
