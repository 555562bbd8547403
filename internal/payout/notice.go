package payout

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Notified follows a bank's notification of a payout. It does not trust the
// notification: it asks the bank, and treats the answer like that of a poll. It may run
// any number of times, also beside the resolver.
//
// A fault of kind Missing says that there is no such payout. A fault of kind
// Unavailable says that the bank gave no answer. The caller must then try again, since
// no other work asks about a payout after its success.
func (s *Service) Notified(ctx context.Context, reference string) error {
	company, err := s.owner(ctx, reference)
	if errors.Is(err, db.ErrNone) {
		return fault.New(fault.Missing, "Payout not found")
	}
	if err != nil {
		return err
	}
	o, err := s.Operations.Find(ctx, company, reference)
	if err != nil || o.State == Reversed {
		return err
	}
	said := s.ask(ctx, o)
	if o.State == Success && said.Outcome == provider.Unknown {
		return errBankAway
	}
	_, err = s.Operations.Notified(ctx, company, reference, s.heard(ctx, o, said))
	return err
}
