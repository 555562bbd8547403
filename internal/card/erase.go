package card

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// canceled is the issuer's status of a card that can never be used again.
const canceled = "canceled"

// Erase adds changes to the unit u, which erases a customer. The issuer's texts about refused cards
// are removed. The ledger refuses the unit if a card of the customer is being made. Erase also returns
// the IDs of the customer's cards, and what is open, so that the customer cannot be erased. A card is
// open until the issuer reports that it is canceled, because it may hold money.
func (s *Service) Erase(ctx context.Context, u *ledger.Unit, customerID string) (ids, open []string, err error) {
	list, err := s.cardsOf(ctx, u.Company, customerID)
	for _, c := range list {
		if err == nil && c.state == issued && c.Status != canceled {
			c, err = s.renewed(ctx, u.Company, c.ID)
		}
		if err != nil {
			return nil, nil, err
		}
		fundings, err := s.openFundings(ctx, u.Company, c.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, reference := range fundings {
			open = append(open, "the card funding "+reference+" has no outcome")
		}
		switch ids = append(ids, c.ID); {
		case c.state == issued && c.Status != canceled:
			open = append(open, "the card "+c.ID+" is "+c.Status+" at the issuer and may hold money")
		case c.state == failed && c.message != "":
			c.message = ""
			u.Transition(cards.Record(c), string(failed)).Only("message")
		}
	}
	if err != nil {
		return nil, nil, err
	}
	h, err := s.findHolder(ctx, u.Company, customerID)
	switch {
	case errors.Is(err, db.ErrNone):
		// This row keeps a concurrent request from making a card.
		u.Insert(holders.Record(holder{company: u.Company, customerID: customerID, state: free, createdAt: s.Clock.Now()}))
		err = nil
	case err == nil && h.state == busy:
		open = append(open, "a card is being made")
	case err == nil:
		u.Expect(holders.Record(h), free)
	}
	return ids, open, err
}
