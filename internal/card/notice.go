package card

import (
	"context"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Pattern is where issuers send their notices, as net/http writes it. It is no
// secret: they carry a header that is. The inbox's door has one element more in
// its path.
const Pattern = "POST /callbacks/{provider}"

// Door takes notices. A question that waits for an answer, whether a payment may
// go through, is answered from the configuration alone, without a look into the
// database: there is a second for it. Something that happened is written down
// before it is acknowledged, and once.
func (s *Service) Door() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("provider")
		by := s.issuers[name]
		if by == nil {
			inbox.Say(w, http.StatusNotFound, "Not found")
			return
		}
		body, ok := inbox.Read(w, r)
		if !ok {
			return
		}
		n, err := by.ParseCardNotice(r.Header, body)
		if errors.Is(err, provider.ErrForged) {
			inbox.Say(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		if err != nil {
			s.log.Warn("a card notice could not be read", "provider", name, "error", err)
			inbox.Say(w, http.StatusBadRequest, "The notice cannot be read")
			return
		}
		if err := s.Notified(r.Context(), name, n); err != nil {
			s.log.Error("a card notice was not written down", "provider", name, "word", n.Word, "error", err)
			inbox.Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		inbox.Reply(w, http.StatusOK, string(n.Reply))
	})
}

// Notified writes down what happened with a card, the same thing once. A card
// that is not ours is none of our business.
func (s *Service) Notified(ctx context.Context, issuer string, n provider.CardNotice) error {
	if n.Kind != provider.CardActivity && n.Kind != provider.CardEnded {
		return nil
	}
	whose, ours, err := s.owner(ctx, issuer, n.Card)
	if err != nil || !ours {
		return err
	}
	now := s.clock.Now()
	if n.At.IsZero() {
		n.At = now
	}
	u := ledger.Unit{Company: whose.company, Claims: []db.Record{activityRecord(whose, n, now)}}
	if n.Kind == provider.CardEnded {
		c, err := s.findCard(ctx, whose.company, whose.card)
		if err != nil {
			return err
		}
		c.Status, c.UpdatedAt = "canceled", now
		u.Moves = []ledger.Move{c.move(issued, issued)}
	}
	err = s.book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists) || ledger.Is(err, ledger.Moved) {
		return nil
	}
	return err
}
