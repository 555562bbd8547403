package sudo

import (
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// contradiction is the code of an answer about a funding whose lines contradict each other.
const contradiction = "contradiction"

// unlisted is the answer about a funding of which the list has shown nothing definite.
var unlisted = provider.Answer{Code: notListed, Message: "The transfer has not been found yet"}

// trail is what a list shows of one funding. The provider may have returned it and carried it out again, so there may be several
// debits and credits.
type trail struct {
	paid, open, failed *transfer // the first debit on the list that is confirmed, without an outcome, or failed
	steps              []step    // the debits, and the credits that have not failed
	returning          bool      // a credit has no outcome
	odd                bool      // a line has another amount
}

// step is one line of a trail.
type step struct {
	at       time.Time
	isCredit bool
	isDone   bool
}

// endOfTime is the time of a credit whose line has none. Such a credit may return any debit.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// before compares two steps by their times. At the same time the debit is the first one, so that the credit may return it.
func (s step) before(o step) int {
	switch by := s.at.Compare(o.at); {
	case by != 0 || s.isCredit == o.isCredit:
		return by
	case s.isCredit:
		return 1
	}
	return -1
}

// add counts one line. A debit or a credit counts only with its own outcome.
func (l *trail) add(t transfer) {
	outcome, first := t.answer().Outcome, func(of **transfer) {
		if *of == nil {
			*of = &t
		}
	}
	s := step{at: provider.Instant(t.CreatedAt), isCredit: lower(t.Type) == credit, isDone: outcome == provider.Confirmed}
	switch {
	case s.isCredit && outcome == provider.Rejected:
		return
	case s.isCredit:
		l.returning = l.returning || !s.isDone
		if s.at.IsZero() {
			s.at = endOfTime
		}
	case outcome == provider.Confirmed:
		first(&l.paid)
	case outcome == provider.Unknown:
		first(&l.open)
	default:
		first(&l.failed)
	}
	l.steps = append(l.steps, s)
}

// isPaid reports whether a debit is done, and no credit returns it or may return it. A credit returns one debit, which is not newer than
// the credit. It may be a debit that has failed or has no outcome: isPaid takes such a debit only if there is no other. A credit without
// any debit before it may return a debit that seems to be newer.
func (l *trail) isPaid() bool {
	left, others := 0, 0
	for _, s := range slices.SortedStableFunc(slices.Values(l.steps), step.before) {
		switch {
		case s.isCredit && left <= 0 && others > 0:
			others--
		case s.isCredit:
			left--
		case s.isDone:
			left++
		default:
			others++
		}
	}
	return left > 0
}

// isReturned reports whether debits are done, and a credit that is done returns each of them. A credit that may return a debit that has
// failed, or has no outcome, proves no return of one that is done.
func (l *trail) isReturned() bool {
	left, others := 0, 0
	for _, s := range slices.SortedStableFunc(slices.Values(l.steps), step.before) {
		switch {
		case s.isCredit && !s.isDone:
		case s.isCredit && others > 0:
			others--
		case s.isCredit:
			left = max(0, left-1)
		case s.isDone:
			left++
		default:
			others++
		}
	}
	return l.paid != nil && left == 0
}

// isListed reports whether the list has a line of the funding. A credit alone proves that there was a debit.
func (l *trail) isListed() bool { return l.odd || len(l.steps) > 0 }

// answer returns the outcome of a funding that is listed. It is definite only if the list was read without a gap.
func (l *trail) answer(complete bool) provider.Answer {
	switch {
	case l.odd:
		return provider.Answer{Code: contradiction, Message: "The transfer is listed with another amount"}
	case l.isPaid() && complete:
		return l.paid.answer()
	case l.open != nil:
		return l.open.answer()
	case l.paid != nil && l.returning && !l.isReturned():
		return provider.Answer{Code: "pending", Message: "The transfer may be on its way back"}
	case l.isReturned() && complete:
		return provider.Answer{Outcome: provider.Rejected, Code: "reversed", Message: "The transfer was reversed", Reference: string(l.paid.ID)}
	case l.paid != nil && complete:
		return provider.Answer{Code: contradiction, Message: "The list does not say which transfer came back"}
	case l.failed != nil && complete:
		return l.failed.answer()
	}
	return unlisted
}
