package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
)

// A provider can say the opposite of an outcome that is booked: that it carried out what has FAILED and was refunded, or that what
// succeeded came back. Such news moves no money. It opens a case, and until people know more the outcome is in doubt.

// Doubt says whether something contradicts the outcome of an operation.
type Doubt int

const (
	// Sure means that nothing contradicts the outcome, or that there is none yet.
	Sure Doubt = iota
	// InDoubt means that a case about it is open.
	InDoubt
	// WasInDoubt means that the operation FAILED, that the provider said later that it carried it out, and that operators have
	// decided about it. Their decision moves no money, so the payment may have been made nevertheless.
	WasInDoubt
)

// String returns the doubt as the API has it: "OPEN", "DECIDED", or "" for none.
func (d Doubt) String() string {
	switch d {
	case InDoubt:
		return "OPEN"
	case WasInDoubt:
		return "DECIDED"
	case Sure:
	}
	return ""
}

// about returns the operation that a case is about, or the zero value. The first load of a card has the card's id, so a case about the card
// may name an operation that began later. It is not about that one.
func (s *Service) about(ctx context.Context, c Case) (Operation, error) {
	o, err := s.Find(ctx, c.Company, c.Subject)
	if fault.Is(err, fault.Missing) || err == nil && c.Reason == Unresolved && c.CreatedAt.Before(o.CreatedAt) {
		return Operation{}, nil
	}
	return o, err
}
