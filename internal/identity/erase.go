package identity

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Abandon adds a change to the unit u. The change closes the open session of a customer, if there is
// one, without a proof of the identity.
func (s *Service) Abandon(ctx context.Context, u *ledger.Unit, customerID string) error {
	x, err := s.Open(ctx, u.Company, Customer, customerID)
	if fault.Is(err, fault.Missing) {
		return nil
	}
	if err == nil {
		s.end(u, x, x.State)
	}
	return err
}

// Forget adds changes to the unit u. The changes delete the closed sessions of a customer with their
// BVNs, and the OTP counters of these BVNs.
func (s *Service) Forget(ctx context.Context, u *ledger.Unit, customerID string) error {
	list, err := s.closed(ctx, u.Company, customerID)
	for _, x := range list {
		bvn, err := s.BVN(x)
		if err != nil {
			return err
		}
		u.Remove(sessions.Record(x))
		for _, subject := range s.Subjects(u.Company, bvn) {
			u.Remove(persons.Record(person{Company: u.Company, Purpose: Customer, subject: subject}))
		}
	}
	return err
}
