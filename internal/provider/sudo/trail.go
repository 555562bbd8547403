package sudo

import "github.com/kobo-waas/kobo/internal/provider"

// unlisted is the answer about a funding of which the list has shown nothing definite.
var unlisted = provider.Answer{Code: notListed, Message: "The transfer has not been found yet"}

// trail is what a list shows of one funding. The provider may have returned it and carried it out again, so there may be several
// debits and credits.
type trail struct {
	paid, open, failed *transfer // the first debit on the list that is confirmed, without an outcome, or failed
	debits, credits    int       // the confirmed ones
	returning          int       // credits without an outcome
	odd                bool      // a line has another amount
}

// add counts one line. A debit or a credit counts only with its own outcome.
func (l *trail) add(t transfer) {
	outcome, first := t.answer().Outcome, func(of **transfer) {
		if *of == nil {
			*of = &t
		}
	}
	switch {
	case lower(t.Type) == credit && outcome == provider.Confirmed:
		l.credits++
	case lower(t.Type) == credit && outcome == provider.Unknown:
		l.returning++
	case lower(t.Type) == credit:
	case outcome == provider.Confirmed:
		l.debits++
		first(&l.paid)
	case outcome == provider.Unknown:
		first(&l.open)
	default:
		first(&l.failed)
	}
}

// isPaid reports whether a debit has no credit that returns it, or may return it.
func (l *trail) isPaid() bool { return l.debits > l.credits+l.returning }

// isListed reports whether the list has a line of the funding. A credit alone proves that there was a debit.
func (l *trail) isListed() bool {
	return l.odd || l.paid != nil || l.open != nil || l.failed != nil || l.credits+l.returning > 0
}

// answer returns the outcome of a funding that is listed. It is definite only if the list was read without a gap.
func (l *trail) answer(complete bool) provider.Answer {
	switch {
	case l.odd:
		return provider.Answer{Code: "contradiction", Message: "The transfer is listed with another amount"}
	case l.isPaid() && complete:
		return l.paid.answer()
	case l.open != nil:
		return l.open.answer()
	case l.debits > l.credits && l.returning > 0:
		return provider.Answer{Code: "pending", Message: "The transfer may be on its way back"}
	case l.debits > 0 && complete:
		return provider.Answer{Outcome: provider.Rejected, Code: "reversed", Message: "The transfer was reversed", Reference: string(l.paid.ID)}
	case l.failed != nil && complete:
		return l.failed.answer()
	}
	return unlisted
}
