package card

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// SendDefaultPIN asks the issuer to send the card's first PIN to the cardholder. It
// returns the issuer's message. Kobo writes the use of a key before it asks, so only one of
// two equal requests asks. After a crash the next request sends the PIN again, since the
// first outcome is unknown.
func (s *Service) SendDefaultPIN(ctx context.Context, company, cardID string, key *idempotency.Key) (string, error) {
	c, by, err := s.atIssuer(ctx, company, cardID)
	if err != nil {
		return "", err
	}
	if key != nil && key.Subject() == "" {
		u := ledger.For(company)
		key.Begin(&u, c.ID, s.Clock.Now().Add(s.Window))
		if err := s.Book.Commit(ctx, u); err != nil {
			return "", idempotency.Taken(err)
		}
	}
	message, err := deliver(ctx, by, c)
	if err != nil && !fault.Is(err, fault.Refused) {
		return "", err // no answer: the next request with the key asks again
	}
	// Store the answer even if the caller has gone.
	return message, s.finish(context.WithoutCancel(ctx), key, message, err)
}

func deliver(ctx context.Context, by provider.Issuer, c stored) (message string, err error) {
	message, err = by.SendDefaultPIN(ctx, c.ProviderCardID)
	if err != nil {
		return "", saidBy(by, err)
	}
	if message == "" {
		message = "PIN sent successfully"
	}
	return message, nil
}
