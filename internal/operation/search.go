package operation

import "time"

// Search is the schedule of requeries about a request that moves no money, such as the opening of
// an account. The provider is asked until it is certain whether the account exists.
type Search struct {
	Since   time.Time // when the last request ended
	Missing int64     // the number of replies since then that the account does not exist
}

// Next returns the time of the next requery after a requery at now. Requeries that were missed
// while the program was down count as one. The schedule is that of an operation, but it always has
// a requery at the end of the grace period.
func (s Search) Next(now time.Time) time.Time {
	if s.Since.Sub(now) > longestPause {
		return now.Add(time.Hour) // the clock was ahead at the request
	}
	for _, age := range append(ages[:4:4], append([]time.Duration{graceAge}, ages[4:]...)...) {
		if at := s.Since.Add(age); at.After(now) {
			return at
		}
	}
	if s.Missing > 0 && s.Missing < gracePolls {
		return now.Add(ages[1]) // the grace period is over, but more requeries are needed
	}
	return now.Add(time.Hour)
}

// IsGone reports whether a request counts as not carried out now. The clock has run without a jump since some time, so the grace period
// begins no earlier, except in a sandbox.
func (s *Service) IsGone(r Search) bool {
	if steady := s.steady.Since(); !s.Simulated && steady.After(r.Since) {
		r.Since = steady
	}
	return r.Gone(s.clock.Now())
}

// Gone reports whether the request counts as not carried out at the time now.
func (s Search) Gone(now time.Time) bool {
	return s.Missing >= gracePolls && !now.Before(s.Since.Add(graceAge))
}

// TooOld reports whether so much time has passed that operators should decide.
func (s Search) TooOld(now time.Time) bool { return now.Sub(s.Since) > tooOld }
