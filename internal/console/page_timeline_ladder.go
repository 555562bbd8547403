package console

// rung is a step of the outcome clock.
type rung struct{ label, class, said string }

// rungs are the times at which the provider is asked, counted from the end of the first call.
var rungs = []string{"call", "5 s", "30 s", "2 min", "10 min", "30 min", "2 h", "hourly", "72 h"}

// ladder returns the steps of the outcome clock.
func (s story) ladder() []rung {
	return ladderOf(s.Clock.Attempts, optional(s.Word) == "accepted", optional(s.Word) == "case", s.Clock.NextAt != nil)
}

// ladderOf returns the rungs for an outcome that was asked for some times. The provider has accepted the payment as its last
// answer, it is in the hands of people, or the next time is planned.
func ladderOf(attempts int64, isAccepted, inHands, isPlanned bool) (out []rung) {
	asked := min(int(attempts), len(rungs)-2)
	next := asked + 1
	if next == len(rungs)-1 || asked == len(rungs)-2 {
		next = len(rungs) - 2 // asked every hour until the case
	}
	for i, label := range rungs {
		r := rung{label: label}
		switch {
		case i == len(rungs)-1:
			r.said = "case"
			if inHands {
				r.class = "done"
			}
		case i == next && !inHands && isPlanned:
			r.class = "next"
		case i <= asked || inHands:
			r.class, r.said = "done", "no outcome"
			if i == asked && isAccepted {
				r.said = "accepted"
			}
		}
		out = append(out, r)
	}
	return out
}
