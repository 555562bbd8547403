package customer

import (
	"context"
	"errors"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Identity is what the law demands to keep of an erased customer.
type Identity struct {
	FirstName   string    `json:"firstName"`
	MiddleName  wire.Text `json:"middleName"`
	LastName    string    `json:"lastName"`
	DateOfBirth wire.Text `json:"dateOfBirth"`
	AccountName string    `json:"accountName"` // the name that the bank has verified; "" without an account
}

// Unchanged makes the ledger refuse the unit u if the customer was erased after c was read.
func (s *Service) Unchanged(u *ledger.Unit, c Customer) {
	u.Expect(customers.Record(row{Customer: c}), string(PendingOTP), string(Active)).Expect("erased_at", clock.Micros(c.ErasedAt))
}

func (s *Service) living(c Customer) func(u *ledger.Unit) error {
	return func(u *ledger.Unit) error {
		s.Unchanged(u, c)
		return nil
	}
}

// Erase adds to the unit u the changes that erase a customer: the row without a name, the free e-mail
// address, the account without a name, and the closed OTP session. The account keeps its number,
// because money may arrive there, until the bank gives the account to another customer. Erase also returns
// what of the customer is open, so that the customer cannot be erased.
func (s *Service) Erase(ctx context.Context, u *ledger.Unit, customerID string, now time.Time) (i Identity, open []string, err error) {
	c, err := s.findByID(ctx, u.Company, customerID)
	if err != nil {
		return i, nil, db.Missing(err, errNoCustomer.Message)
	}
	i = Identity{c.FirstName, c.MiddleName, c.LastName, c.DateOfBirth, ""}
	u.Transition(erasures.Record(erasure{Company: u.Company, ID: c.ID, Status: c.Status, ErasedAt: now}), string(c.Status)).Expect("erased_at", int64(0))
	u.Remove(addresses.Record(email{company: u.Company, address: addressKey(c.Email)}))
	a, err := s.findAccount(ctx, u.Company, c.ID)
	switch {
	case errors.Is(err, db.ErrNone):
		// This row keeps a concurrent request from opening an account.
		u.Insert(accounts.Record(account{company: u.Company, customerID: c.ID, state: refused, turn: id.New(), createdAt: now, updatedAt: now}))
		err = nil
	case err == nil && a.state == pending:
		open = append(open, "the account is being opened")
	case err == nil:
		i.AccountName = a.bank.Name
		was := a.turn
		a.turn, a.bank.Name, a.message, a.nameMatch = id.New(), "", "", ""
		u.Transition(accounts.Record(a), string(a.state)).Expect("turn", was)
	}
	if err == nil {
		err = s.Identities.Abandon(ctx, u, c.ID)
	}
	return i, open, err
}
