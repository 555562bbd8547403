package idempotency

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// longestRun is longer than any request runs.
const longestRun = time.Hour

// inFlight returns ErrInFlight for a request that is still running. A request that seems to run for longer than longestRun has begun
// while a clock was ahead. Its program may still execute it, but ends it within longestRun from now. So inFlight stores this time, and a
// repetition continues the request then.
func (s *Service) inFlight(ctx context.Context, k *Key, r row) error {
	if r.RunningUntil.Sub(k.now) > longestRun+time.Minute {
		u := ledger.For(k.company)
		u.Transition(k.record(running, r.Subject, k.now.Add(longestRun), Answer{}), running).
			Only("running_until").Expect("running_until", clock.Micros(r.RunningUntil))
		if err := ledger.Except(s.book.Commit(ctx, u), ledger.Moved); err != nil {
			return err
		}
	}
	return ErrInFlight
}
