package operation

import "time"

// Search is the resolver's schedule for a call that moves no money, such as the opening of
// an account. The provider is asked until it is known whether the account exists.
type Search struct {
	Since   time.Time // the end of the last call
	Missing int64     // the number of answers since then that it does not exist
}

// Next returns the time of the question after one at now. Questions that were missed, while the
// program was down, count as one. The schedule has one more question than an operation's,
// at the end of the grace period.
func (s Search) Next(now time.Time) time.Time {
	for _, age := range append(ages[:4:4], append([]time.Duration{graceAge}, ages[4:]...)...) {
		if at := s.Since.Add(age); at.After(now) {
			return at
		}
	}
	if s.Missing > 0 && s.Missing < gracePolls {
		return now.Add(ages[1]) // only questions are missing
	}
	return now.Add(time.Hour)
}

// Gone reports whether the call counts as not done.
func (s Search) Gone(now time.Time) bool {
	return s.Missing >= gracePolls && !now.Before(s.Since.Add(graceAge))
}

// TooOld reports whether an operator should decide.
func (s Search) TooOld(now time.Time) bool { return now.Sub(s.Since) > tooOld }
