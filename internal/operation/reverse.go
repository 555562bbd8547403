package operation

import (
	"cmp"
	"context"

	"github.com/kobo-waas/kobo/internal/ledger"
)

// reverse returns the money of a successful operation to the settlement account. Parameter heard
// is the operation with the provider's reply that the money came back. A success is reversed only
// once.
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

// reversal returns the reversed operation, and the unit that returns the money of a success.
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
