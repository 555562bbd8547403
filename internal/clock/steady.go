package clock

import (
	"sync"
	"time"
)

// slack is the largest difference between a clock and the time that has truly passed which is no jump.
// Corrections of the machine's clock are smaller.
const slack = time.Minute

// Steady knows since when a clock runs without a jump. It notices a jump when Since is called.
type Steady struct {
	clock Clock

	mu    sync.Mutex
	ahead time.Duration // of the clock, compared with Elapsed
	since time.Duration // the clock has had no jump since this Elapsed
}

// NewSteady returns a Steady that knows nothing about the time before now.
func NewSteady(c Clock) *Steady {
	elapsed := c.Elapsed()
	return &Steady{clock: c, ahead: ahead(c.Now(), elapsed), since: elapsed}
}

// Since returns the time on the clock from which on a difference of two times is the time that has truly
// passed between them, to within a minute. It is the time of NewSteady, or that of the first call after
// the latest jump.
func (s *Steady) Since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed, now := s.clock.Elapsed(), s.clock.Now()
	if a := ahead(now, elapsed); (a - s.ahead).Abs() > slack {
		s.ahead, s.since = a, elapsed
	}
	return now.Round(0).Add(s.since - elapsed)
}

// ahead returns how far the clock is ahead of Elapsed, whose zero is 1970 here. Round removes Go's own
// reading of the timer, which would hide the jump.
func ahead(now time.Time, elapsed time.Duration) time.Duration {
	return now.Round(0).Sub(time.Unix(0, 0)) - elapsed
}
