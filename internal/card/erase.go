package card

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Erase adds changes to the unit u, which erases a customer. The issuer's texts about refused cards
// and the company's reasons for the end of a card are removed. The ledger refuses the unit if a card of
// the customer is being made. Erase also returns the IDs of the customer's cards, and what is open, so
// that the customer cannot be erased.
func (s *Service) Erase(ctx context.Context, u *ledger.Unit, customerID string) (ids, open []string, err error) {
	list, err := s.cardsOf(ctx, u.Company, customerID)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range list {
		more, err := s.eraseCard(ctx, u, c)
		if err != nil {
			return nil, nil, err
		}
		ids, open = append(ids, c.ID), append(open, more...)
	}
	returning, err := job.Subjects(ctx, s.DB, u.Company, ReturnJob, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, cardID := range ids {
		if returning[cardID] {
			open = append(open, "what was left on the card "+cardID+" has not come back")
		}
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

// eraseCard adds the changes of one card to the unit u, and returns what is open. A card is open until
// the issuer reports that it is canceled, because it may hold money.
func (s *Service) eraseCard(ctx context.Context, u *ledger.Unit, c stored) (open []string, err error) {
	const ended = string(provider.CardCanceled)
	if c.state == issued && c.Status != ended {
		if c, err = s.renewed(ctx, u.Company, c.ID); err != nil {
			return nil, err
		}
	}
	fundings, err := s.openFundings(ctx, u.Company, c.ID)
	if err != nil {
		return nil, err
	}
	for _, reference := range fundings {
		open = append(open, "the card funding "+reference+" has no outcome")
	}
	switch {
	case c.state == issued && c.Status != ended:
		open = append(open, "the card "+c.ID+" is "+c.Status+" at the issuer and may hold money")
	case c.state == failed && c.message != "":
		c.message = ""
		u.Transition(cards.Record(c), string(failed)).Only("message")
	}
	change, err := s.findChange(ctx, u.Company, c.ID)
	switch {
	case errors.Is(err, db.ErrNone):
		return open, nil
	case err == nil && change.state == opens:
		open = append(open, "a change of the card "+c.ID+" has no outcome")
	case err == nil && change.reason != "":
		change.reason = ""
		u.Transition(changes.Record(change), done).Only("reason")
	}
	return open, err
}
