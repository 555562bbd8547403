package operation

import (
	"cmp"
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
)

// reverse gives the money of an operation back that has succeeded: heard is the
// provider's definite word that it came back to us. It happens once, however often
// and by however many it is told.
func (s *Service) reverse(ctx context.Context, o, heard Operation) (Operation, error) {
	after, u, err := s.reversal(ctx, o, heard)
	if err != nil {
		return o, err
	}
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return s.Find(ctx, o.Company, o.ID)
	}
	if err != nil {
		return o, err
	}
	return after, nil
}

// reversal is the unit that gives the money of a success back, and the operation
// after it.
func (s *Service) reversal(ctx context.Context, o, heard Operation) (after Operation, u ledger.Unit, err error) {
	after = o
	after.State, after.UpdatedAt = Reversed, heard.UpdatedAt
	after.Outcome, after.Code, after.Message = heard.Outcome, heard.Code, heard.Message
	after.ProviderReference = cmp.Or(heard.ProviderReference, o.ProviderReference)
	u = ledger.For(o.Company)
	u.Transition(operations.Record(after), string(Success))
	u.Transfer(s.giveBack(after)...)
	return after, u, s.kinds[o.Kind].Effects(ctx, after, &u)
}

// giveBack is a success undone: each part returns from where it went.
func (s *Service) giveBack(o Operation) []ledger.Transfer {
	r := s.kinds[o.Kind].Route(o)
	out := []ledger.Transfer{o.transfer(reverse, r.Provider, r.Settlement, o.Amount, "Reversal")}
	if o.Fee > 0 {
		out = append(out, o.transfer(reverseFee, r.Fee, r.Settlement, o.Fee, "Reversal of the fee"))
	}
	return out
}
