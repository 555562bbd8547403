package payout

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Notified is for a bank's word that a payout has moved on. The word itself is
// not believed: the bank is asked, and its answer counts like that of a poll. It
// is safe at any time and any number of times, the resolver beside it.
//
// A fault of kind Missing says that there is no such payout; of kind
// Unavailable, that the bank could not be asked and the notice must be worked
// again, since nothing else will ask about a payout that has succeeded.
func (s *Service) Notified(ctx context.Context, reference string) error {
	company, err := s.owner(ctx, reference)
	if errors.Is(err, db.ErrNone) {
		return fault.New(fault.Missing, "Payout not found")
	}
	if err != nil {
		return err
	}
	o, err := s.operations.Find(ctx, company, reference)
	if err != nil || o.State == Reversed {
		return err
	}
	said := s.ask(ctx, o)
	if o.State == Success && said.Outcome == provider.Unknown {
		return errBankAway
	}
	_, err = s.operations.Notified(ctx, company, reference, s.heard(ctx, o, said))
	return err
}
