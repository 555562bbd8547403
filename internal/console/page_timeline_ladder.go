package console

import (
	"strconv"
	"strings"
)

// rung is a step of the outcome clock.
type rung struct{ label, class, said string }

// rungs are the times at which the provider is asked, counted from the end of the first call.
var rungs = []string{"call", "5 s", "30 s", "2 min", "10 min", "30 min", "2 h", "hourly", "72 h"}

// ladder returns the steps of the outcome clock. Both sides draw it from the same steps, so one answer has one word.
func (s story) ladder() []rung {
	return ladderOf(s.Clock.Attempts, s.answersOf(), optional(s.Word) == "case", s.Clock.NextAt != nil)
}

// answersOf returns the word for the answer to each call: the first one has the number 0.
func (s story) answersOf() map[int64]string {
	out := map[int64]string{}
	for _, step := range s.Steps {
		title, said, isSaid := strings.Cut(step.Text, ": ")
		if step.What != "answer" || !isSaid {
			continue
		}
		first, last := callsOf(title)
		for n := first; n <= last; n++ {
			if out[n] = "no outcome"; s.isAcceptance(said) {
				out[n] = "accepted"
			}
		}
	}
	return out
}

// callsOf returns the numbers of the calls of an answer with a title such as "first call", "poll 3" or "polls 3 to 7, 5 equal answers".
// It returns no call for any other title.
func callsOf(title string) (first, last int64) {
	if title == "first call" {
		return 0, 0
	}
	words := strings.Fields(strings.ReplaceAll(title, ",", ""))
	if len(words) < 2 || words[0] != "poll" && words[0] != "polls" {
		return 0, -1
	}
	first, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return 0, -1
	}
	if len(words) > 3 && words[2] == "to" {
		if last, err = strconv.ParseInt(words[3], 10, 64); err == nil {
			return first, last
		}
	}
	return first, first
}

// ladderOf returns the rungs for an outcome that was asked for some times, with the words of the answers. The outcome is in the hands
// of people, or the next time is planned.
func ladderOf(attempts int64, answers map[int64]string, inHands, isPlanned bool) (out []rung) {
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
			r.class, r.said = "done", answerAt(answers, i, attempts)
		}
		out = append(out, r)
	}
	return out
}

// answerAt returns the word of the answer to the call of a rung, or else of the last one before it. The hourly rung has the last of all.
func answerAt(answers map[int64]string, rung int, attempts int64) string {
	n := min(int64(rung), attempts)
	if rung >= len(rungs)-2 {
		n = attempts
	}
	for ; n >= 0; n-- {
		if word, there := answers[n]; there {
			return word
		}
	}
	return "no outcome"
}
