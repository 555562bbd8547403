package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// The reasons of breaks: differences between a bank's statement and our ledger. The
// subject is the operation, or the bank's id of the line, so a break that is found every
// day is one case.
const (
	// MissingCredit: the bank has a credit, and our ledger does not.
	MissingCredit Reason = "MISSING_CREDIT"
	// UnknownDebit: the bank has a debit, and no operation asked for it.
	UnknownDebit Reason = "UNKNOWN_DEBIT"
	// DuplicateDebit: the bank took the money of one operation more than once.
	DuplicateDebit Reason = "DUPLICATE_DEBIT"
	// FailedReversal: only one side, ours or the bank's, has a reversal.
	FailedReversal Reason = "FAILED_REVERSAL"
	// AmountDiffers: both sides have the line, with different amounts.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// NotOnStatement: our ledger has the transfer, and the statement does not.
	NotOnStatement Reason = "NOT_ON_STATEMENT"
	// UnbookedCharge: the bank charged us for its own services, and our ledger does not have
	// the charge. The subject is a bank's day, so the lines of a day are one case.
	UnbookedCharge Reason = "UNBOOKED_CHARGE"
)

// breakReasons are the reasons of breaks.
var breakReasons = []Reason{
	MissingCredit, UnknownDebit, DuplicateDebit, FailedReversal, AmountDiffers, NotOnStatement, UnbookedCharge,
}

// Reasons returns all reasons.
func Reasons() []Reason {
	return append([]Reason{Unresolved, Contradiction, UnknownAccount, Unreadable}, breakReasons...)
}

// Raise opens a case for a break. C has the company, the subject, the reason, the detail,
// the amount and the time of the break. Raise returns the present case, which may be
// resolved. Judged is the time up to which the comparison has read our ledger.
func (s *Service) Raise(ctx context.Context, c Case, judged time.Time) (Case, error) {
	return s.askAgain(ctx, c, ledger.For(c.Company), func(last Case) bool { return last.answers(c, judged) })
}

// answers reports whether a resolved case covers a break that is found now. A booked or
// assigned amount is in the ledger, so a later difference is new, unless the comparison
// was too early to see the booking. A dismissed amount covers a break that has not grown.
func (c Case) answers(found Case, judged time.Time) bool {
	if c.Outcome == Booked || c.Outcome == Assigned {
		return !c.UpdatedAt.Before(judged)
	}
	return c.Amount == 0 || size(found.Amount) <= size(c.Amount)
}

func size(k money.Kobo) money.Kobo { return max(k, -k) }
