package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// AskPause is the time that must lie between the last answer about an operation and a question that an
// operator asks.
const AskPause = 30 * time.Second

// Ask asks the provider once for the outcome of a PENDING operation, outside the schedule of the resolver,
// because an operator wants to know now. A definite answer decides the operation, as it does for the
// resolver. The answer "no such reference" decides nothing and does not count as one of the requeries that
// allow a refund, so impatience cannot move money. Ask does not change the operation's row then. It only
// adds the answer. If the provider has the operation, that ends the row of requeries that did not find it.
//
// A fault is of the kind Missing for an unknown operation, Refused if nothing is to be asked, and Limited if
// the last answer is younger than AskPause.
func (s *Service) Ask(ctx context.Context, company, operationID string) (Operation, error) {
	o, err := s.Find(ctx, company, operationID)
	if err != nil {
		return o, err
	}
	now := s.clock.Now()
	if o.State != Pending {
		return o, fault.New(fault.Refused, "The outcome is known: nothing is to be asked")
	}
	if o.Outcome == "" && o.InFlight(now) {
		return o, fault.New(fault.Refused, "The first call is under way: wait for its end")
	}
	last, err := s.lastAnswerAt(ctx, o)
	if err != nil {
		return o, err
	}
	if wait := last.Add(AskPause).Sub(now); wait > 0 {
		return o, fault.New(fault.Limited, "The provider was asked less than 30 seconds ago.").After(wait)
	}
	a, err := s.held(ctx, o, o.ordered(s.requery(ctx, o)))
	if err != nil {
		return o, err
	}
	if err := s.differs(ctx, o, a); err != nil {
		return o, err
	}
	if a.Outcome != provider.Unknown && !a.Missing {
		return s.conclude(ctx, o, a, nil)
	}
	if a.Found || a.Reference != "" {
		return s.knownNow(ctx, o, a)
	}
	u := ledger.For(o.Company)
	u.Append(o.answered(a, s.clock.Now()).lastAnswer())
	return o, s.book.Commit(ctx, u)
}

// knownNow writes the answer of a provider that has an operation, and no outcome of it yet. The schedule stays.
func (s *Service) knownNow(ctx context.Context, o Operation, a provider.Answer) (Operation, error) {
	for {
		after := o.answered(a, s.clock.Now())
		after.Missing = 0
		u, err := s.replyUnit(ctx, o, after, &o)
		if err != nil {
			return o, err
		}
		err = s.book.Commit(ctx, u)
		if !ledger.Is(err, ledger.Moved, operations.Table) {
			return after, err
		}
		now, err := s.Find(ctx, o.Company, o.ID) // the resolver or an operator has asked meanwhile
		if err != nil || now.State != Pending || now.Attempt != o.Attempt || now.saysAs(o) {
			return now, err
		}
		o = now
	}
}

// saysAs reports whether the provider has said nothing new between two reads of an operation. These are the values that outcomeUnit
// compares if the operation was asked.
func (o Operation) saysAs(earlier Operation) bool {
	return o.Polls == earlier.Polls && o.Missing == earlier.Missing && o.knowsAs(earlier)
}
