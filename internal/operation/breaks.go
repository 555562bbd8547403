package operation

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// These are the reasons of breaks, which are differences between a bank's statement and our ledger.
// The subject of a case about a break is the operation's ID, or the bank's ID of the statement
// line. So a break that is found again every day has only one case.
const (
	// MissingCredit means that the bank has a credit that our ledger lacks.
	MissingCredit Reason = "MISSING_CREDIT"
	// UnknownDebit means that the bank has a debit that belongs to no operation.
	UnknownDebit Reason = "UNKNOWN_DEBIT"
	// DuplicateDebit means that the bank took the money of one operation more than once.
	DuplicateDebit Reason = "DUPLICATE_DEBIT"
	// FailedReversal means that either our ledger or the bank has a reversal, but not both.
	FailedReversal Reason = "FAILED_REVERSAL"
	// AmountDiffers means that the bank and our ledger record the same transfer with different
	// amounts.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// NotOnStatement means that our ledger has a transfer that the statement lacks.
	NotOnStatement Reason = "NOT_ON_STATEMENT"
	// UnbookedCharge means that the bank charged us for its own services, but our ledger lacks the
	// charge. The case's subject is the bank and the day, so all unbooked charges of one day share
	// a case.
	UnbookedCharge Reason = "UNBOOKED_CHARGE"
)

// breakReasons lists the reasons of breaks.
var breakReasons = []Reason{
	MissingCredit, UnknownDebit, DuplicateDebit, FailedReversal, AmountDiffers, NotOnStatement, UnbookedCharge,
}

// Reasons returns all reasons of cases, including the reasons of breaks.
func Reasons() []Reason {
	return append([]Reason{Unresolved, Contradiction, OrderAmount, LateAttempt, UnknownAccount, Unreadable, CardBalance, BrokenChain}, breakReasons...)
}

// Raise opens a case for a break. It opens none if the latest case about the same break is open, or
// is resolved and covers the break. The caller sets the company, subject, reason, detail, amount
// and time of the break in c. Parameter judged is the time up to which the comparison with the
// statement has read our ledger. Raise returns the current case, which may be resolved.
func (s *Service) Raise(ctx context.Context, c Case, judged time.Time) (Case, error) {
	return s.askAgain(ctx, c, ledger.For(c.Company), func(last Case) bool { return last.answers(c, judged) })
}

// RaiseAmount opens a case because a bank reports another amount than the order's. The caller sets the
// company, subject, reason, detail and amount in c. RaiseAmount opens no case if the latest case about
// the same operation is open, or is about the same amount, whatever operators have decided about it.
// Cases of earlier releases have no amount, but the same detail.
func (s *Service) RaiseAmount(ctx context.Context, c Case) error {
	_, err := s.askAgain(ctx, c, ledger.For(c.Company), func(last Case) bool { return last.Amount == c.Amount || last.Detail == c.Detail })
	return err
}

// answers reports whether the resolved case c covers the break in parameter found. If the decision of
// operators moved money, the ledger has the amount, and a break found later is new. Such a case covers a
// break only if the comparison read the ledger before the decision. A dismissed case covers the break as
// long as the amount has not grown. A difference in the other direction is another break.
func (c Case) answers(found Case, judged time.Time) bool {
	switch c.Outcome {
	case Booked, Assigned, FoundConfirmed, FoundRejected:
		return !c.UpdatedAt.Before(judged)
	}
	return Covered(c.Amount, found.Amount) == found.Amount
}

// Covered returns the part of a difference that a dismissed case about the amount decided covers. A case of an earlier release has no
// amount, and covers the whole.
func Covered(decided, found money.Kobo) money.Kobo {
	switch {
	case decided == 0 || found == 0:
		return found
	case (found > 0) != (decided > 0):
		return 0
	case size(found) > size(decided):
		return decided
	}
	return found
}

func size(k money.Kobo) money.Kobo { return max(k, -k) }

// IsBreak reports whether it is the reason of a difference between a bank's statement and the ledger.
func (r Reason) IsBreak() bool { return slices.Contains(breakReasons, r) }
