package card

import (
	"context"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/clock"
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

// endedWord is the issuer's name of the notice about a terminated card.
const endedWord = "card.terminated"

// Notified writes a card's event to the database, unless the event is already there. It ignores
// notices about cards that Kobo has not issued. A notice about the end of a card that Kobo did not
// terminate sets the card's status and tells the company. The directory may have a card whose creation has no outcome yet. It gets its
// status with its outcome.
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
	a := activity{company: whose.company, createdAt: now, Activity: Activity{
		ID: n.ID, CardID: whose.card, Type: n.Word, Amount: n.Amount, Currency: n.Currency, Merchant: n.Merchant,
		HappenedAt: clock.Instant{Time: n.At},
	}}
	for {
		u := ledger.For(whose.company)
		u.Insert(activities.Record(a))
		if n.Kind == provider.CardEnded {
			c, err := findCard(ctx, s.DB, whose.company, whose.card)
			if err != nil {
				return err
			}
			if c.state == issued {
				s.move(&u, &c, provider.CardCanceled, now)
			} else {
				u.Expect(cards.Record(c), string(c.state))
			}
		}
		err = s.Book.Commit(ctx, u)
		switch {
		case ledger.Is(err, ledger.Exists):
			return nil
		case !ledger.Is(err, ledger.Moved):
			return err
		}
	}
}
