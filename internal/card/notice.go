package card

import (
	"context"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Pattern is the net/http route for the issuers' notices. The path contains no secret, because
// each notice has its secret in a header.
const Pattern = "POST /callbacks/{provider}"

// CallbackHandler returns the HTTP handler for the issuers' notices. Some notices ask whether a
// card payment may go through, and the issuer waits one second for the response. Kobo takes this
// response from the configuration and not from the database. Kobo writes the event of a notice to
// the database before it responds to the notice, and writes each event only once.
func (s *Service) CallbackHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("provider")
		by := s.Issuers[name]
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
			s.Log.Warn("a card notice could not be read", "provider", name, "error", err)
			inbox.Say(w, http.StatusBadRequest, "The notice cannot be read")
			return
		}
		if err := s.Notified(r.Context(), name, n); err != nil {
			s.Log.Error("a card notice was not written down", "provider", name, "word", n.Word, "error", err)
			inbox.Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		inbox.Reply(w, http.StatusOK, string(n.Reply))
	})
}

// Notified writes a card's event to the database, unless the event is already there. It ignores
// notices about cards that Kobo has not issued.
func (s *Service) Notified(ctx context.Context, issuer string, n provider.CardNotice) error {
	if n.Kind != provider.CardActivity && n.Kind != provider.CardEnded {
		return nil
	}
	whose, ours, err := s.owner(ctx, issuer, n.Card)
	if err != nil || !ours {
		return err
	}
	now := s.Clock.Now()
	if n.At.IsZero() {
		n.At = now
	}
	u := ledger.For(whose.company)
	u.Insert(activities.Record(activity{whose.company, n.ID, whose.card, n.Word, n.Amount, n.At, now}))
	if n.Kind == provider.CardEnded {
		c, err := findCard(ctx, s.DB, whose.company, whose.card)
		if err != nil {
			return err
		}
		c.Status, c.UpdatedAt.Time = "canceled", now
		u.Transition(cards.Record(c), string(issued))
	}
	err = s.Book.Commit(ctx, u)
	if ledger.Is(err, ledger.Exists) || ledger.Is(err, ledger.Moved) {
		return nil
	}
	return err
}
