package card

import (
	"context"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// SendDefaultPIN has the card's first PIN delivered to the cardholder, and returns
// the issuer's words. The use of a key is written before the issuer is asked, so one
// of two equal requests asks. After a request that was cut off nobody knows whether
// the message went out, so the next one sends it again.
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
		return "", err // without an answer the next request under the key asks again
	}
	// The answer is kept even if the caller has gone.
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
