package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Reverse gives the money of an operation back after it had succeeded: the
// provider's definite word that the money came back to us. It happens once,
// however often and by however many it is told. An operation in any other state
// is left as it is and returned.
func (s *Service) Reverse(ctx context.Context, company, operationID string, a provider.Answer) (Operation, error) {
	o, err := s.Find(ctx, company, operationID)
	if err != nil || o.State != Success {
		return o, err
	}
	after := o.noted(a, s.clock.Now())
	after.State, after.Message = Reversed, a.Message
	u := ledger.Unit{
		Company: company,
		Moves: []ledger.Move{{
			Table: table, Key: []any{company, o.ID}, From: []string{string(Success)}, To: string(Reversed), Set: after.changes(),
		}},
		Transfers: s.giveBack(after),
	}
	paper, err := s.kinds[o.Kind].Paper(ctx, after)
	if err != nil {
		return o, err
	}
	paper.add(&u)
	err = s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return s.Find(ctx, company, operationID)
	}
	if err != nil {
		return o, err
	}
	return after, nil
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
