package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// finding checks an operator's finding, and returns the unit with the finding's effects.
func (s *Service) finding(ctx context.Context, c Case, f Finding, agreed bool) (ledger.Unit, error) {
	if f.Outcome != Assigned && (f.Target != "" || f.TargetID != 0) {
		return ledger.Unit{}, fault.New(fault.Refused, "A company and an account go with assigned only")
	}
	o, err := s.about(ctx, c)
	if err != nil {
		return ledger.Unit{}, err
	}
	answer := provider.Answer{Code: ByOperator, Message: "Settled by an operator"}
	switch {
	case c.Reason != LateAttempt: // the rules below hold
	case f.Outcome == Dismissed:
		return ledger.For(c.Company), nil
	default:
		return ledger.Unit{}, fault.New(fault.Refused, "A late attempt can only be dismissed: the operation follows its last attempt")
	}
	switch f.Outcome {
	case Dismissed:
		if c.Reason == BrokenChain {
			return ledger.Unit{}, fault.New(fault.Refused, "Altered rows can only be accepted")
		}
		if o.State == Pending {
			return ledger.Unit{}, fault.New(fault.Refused, "The operation is pending: its outcome must be confirmed or rejected")
		}
		return ledger.For(c.Company), nil
	case Assigned, Booked, Accepted:
		handle := s.cases[Decision{c.Reason, f.Outcome}]
		switch {
		case handle != nil:
			return handle(ctx, c, f, agreed)
		case f.Outcome == Booked:
			return ledger.Unit{}, fault.New(fault.Refused, "Only a bank's charges of a day can be booked")
		case f.Outcome == Accepted:
			return ledger.Unit{}, fault.New(fault.Refused, "Only altered rows can be accepted")
		}
		return ledger.Unit{}, fault.New(fault.Refused, "Only money of an unknown account, or a credit that is in no ledger, can be assigned")
	case FoundConfirmed:
		answer.Outcome = provider.Confirmed
	case FoundRejected:
		answer.Outcome = provider.Rejected
	default:
		return ledger.Unit{}, fault.New(fault.Refused, "The outcome must be confirmed, rejected, assigned, booked, accepted or dismissed")
	}
	if answer.Outcome == provider.Rejected && s.mayReturn(c, o) {
		_, u, err := s.reversal(ctx, o, o.concluded(answer, s.clock.Now()))
		return u, err
	}
	if o.State != Pending {
		return ledger.Unit{}, fault.New(fault.Refused, "There is no open operation to decide: it can be neither confirmed nor rejected")
	}
	return s.outcomeUnit(ctx, o.concluded(answer, s.clock.Now()), &o, nil)
}

// mayReturn reports whether operators may decide that the provider has returned the money of a
// successful operation. Their decision reverses the operation, as a reply of the provider would. If
// the provider reports the return later, Kobo does not return the money a second time.
func (s *Service) mayReturn(c Case, o Operation) bool {
	asked := c.Reason == Contradiction || c.Reason == FailedReversal || c.Reason == NotOnStatement
	return asked && o.State == Success && s.kinds[o.Kind].Returns
}

// about returns the operation that a case is about, or the zero value. The first load of a card has the card's id, so a case about the card
// may name an operation that began later. It is not about that one.
func (s *Service) about(ctx context.Context, c Case) (Operation, error) {
	o, err := s.Find(ctx, c.Company, c.Subject)
	if fault.Is(err, fault.Missing) || err == nil && c.Reason == Unresolved && c.CreatedAt.Before(o.since()) {
		return Operation{}, nil
	}
	return o, err
}
