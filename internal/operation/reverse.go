package operation

import (
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
)

// reverse moves the money of a successful operation back to the settlement account, because the
// provider has returned it. Parameter heard is the operation with the provider's reply about the
// return. An operation is reversed only once.
func (s *Service) reverse(ctx context.Context, o, heard Operation) (Operation, error) {
	after, u, err := s.reversal(ctx, o, heard)
	if err != nil {
		return o, err
	}
	err = s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Moved) {
		return s.Find(ctx, o.Company, o.ID)
	}
	if err != nil {
		return o, err
	}
	return after, nil
}

// reversal returns operation o in the state REVERSED, with the provider's reply from heard. Unit u
// writes that state, and moves the amount and the fee back to the settlement account.
func (s *Service) reversal(ctx context.Context, o, heard Operation) (after Operation, u ledger.Unit, err error) {
	after = o
	after.State, after.UpdatedAt = Reversed, heard.UpdatedAt
	after.Outcome, after.Code, after.Message = heard.Outcome, heard.Code, heard.Message
	after.ProviderReference = later(o.ProviderReference, heard.ProviderReference)
	u = ledger.For(o.Company)
	u.Transition(operations.Record(after), string(Success))
	u.Transfer(s.giveBack(after)...)
	return after, u, s.kinds[o.Kind].Effects(ctx, after, &u)
}
