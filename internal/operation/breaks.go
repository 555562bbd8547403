package operation

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// The reasons of cases that come from holding a bank's statement against our
// books. The subject is the operation, or what the bank calls the line: a break
// that is found every day is one case.
const (
	// MissingCredit: money came in at the bank and is in no book.
	MissingCredit Reason = "MISSING_CREDIT"
	// UnknownDebit: money went out at the bank, and no operation asked for it.
	UnknownDebit Reason = "UNKNOWN_DEBIT"
	// DuplicateDebit: the bank took the money of one operation more than once.
	DuplicateDebit Reason = "DUPLICATE_DEBIT"
	// FailedReversal: money came back on one side only, ours or the bank's.
	FailedReversal Reason = "FAILED_REVERSAL"
	// AmountDiffers: both sides have it, and not the same amount.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// NotOnStatement: our book has it, and the bank shows nothing.
	NotOnStatement Reason = "NOT_ON_STATEMENT"
	// UnbookedCharge: the bank charged us for its own services, and our book does
	// not have it. The subject is a bank's day, so that its lines are one case.
	UnbookedCharge Reason = "UNBOOKED_CHARGE"
)

// breakReasons are those of a comparison.
var breakReasons = []Reason{
	MissingCredit, UnknownDebit, DuplicateDebit, FailedReversal, AmountDiffers, NotOnStatement, UnbookedCharge,
}

// Reasons are all of them.
func Reasons() []Reason {
	return append([]Reason{Unresolved, Contradiction, UnknownAccount, Unreadable}, breakReasons...)
}

// OpenBreaks are the cases of all comparisons that wait for a decision, the oldest
// first. A break that a statement shows no more is among them until it is decided.
func (s *Service) OpenBreaks(ctx context.Context) ([]Case, error) {
	reasons := make([]string, len(breakReasons))
	for i, r := range breakReasons {
		reasons[i] = string(r)
	}
	return s.openBreaks(ctx, reasons)
}

// Raise asks for a human's decision about something on which the bank's statement
// and our books differ: c says whose it is, its subject and reason, the detail, the
// amount and when it happened. What comes back is the case as it stands, which may be
// resolved. Judged is up to when the comparison had seen what we do ourselves.
func (s *Service) Raise(ctx context.Context, c Case, judged time.Time) (Case, error) {
	last, err := s.lastCase(ctx, c.Company, c.Subject, c.Reason)
	switch {
	case errors.Is(err, db.ErrNone):
	case err != nil || last.State == Open || last.answers(c, judged):
		return last, err
	default:
		c.Turn = last.Turn + 1
	}
	return s.ask(ctx, c, ledger.For(c.Company))
}

// OpenOf are the cases of a reason and an amount that nobody has decided, whosever
// they are.
func (s *Service) OpenOf(ctx context.Context, reason Reason, amount money.Kobo) ([]Case, error) {
	return s.openOf(ctx, reason, amount)
}

// answers tells whether what was decided is the answer to what is found now. What
// was booked or assigned is in the book: what differs after that is something new,
// unless the comparison was too early to see it. What was dismissed stays so, and
// does not cover a difference that has grown since.
func (c Case) answers(found Case, judged time.Time) bool {
	if c.Outcome == Booked || c.Outcome == Assigned {
		return !c.UpdatedAt.Before(judged)
	}
	return c.Amount == 0 || size(found.Amount) <= size(c.Amount)
}

func size(k money.Kobo) money.Kobo { return max(k, -k) }
