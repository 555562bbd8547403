package operation

import "time"

// Search is the resolver's public clock for what a provider may have done and
// that moves no money, such as the opening of an account: it is looked for until
// it is known whether it is there.
type Search struct {
	Since   time.Time // when the last call that may have done it was over
	Missing int64     // how often it was not there since
}

// Next is when the look after one at now is due. Looks that were missed, while
// the program was down, are one. There is one more than an operation has, at the
// end of the grace period.
func (s Search) Next(now time.Time) time.Time {
	for _, age := range append(ages[:4:4], append([]time.Duration{graceAge}, ages[4:]...)...) {
		if at := s.Since.Add(age); at.After(now) {
			return at
		}
	}
	if s.Missing > 0 && s.Missing < gracePolls {
		return now.Add(ages[1]) // all that is wanting are the looks
	}
	return now.Add(time.Hour)
}

// Gone tells whether it counts as not done.
func (s Search) Gone(now time.Time) bool {
	return s.Missing >= gracePolls && !now.Before(s.Since.Add(graceAge))
}

// TooOld tells whether a human should look.
func (s Search) TooOld(now time.Time) bool { return now.Sub(s.Since) > tooOld }
