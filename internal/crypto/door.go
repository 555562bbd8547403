package crypto

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/inbox"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	// largest is how many bytes a notification may have.
	largest = 256 << 10
	// bookedWithin is how long writing one down may take: a custodian that hears
	// nothing for ten seconds sends it again.
	bookedWithin = 8 * time.Second
)

// Door takes a custodian's notifications. Its signature is looked at before
// anything else, and it is answered once what it tells is in the books; before
// that nothing is stored, since the custodian sends it again and keeps a list of
// those that never arrived. (The inbox, which stores first, is for banks that
// sign nothing.)
func (s *Service) Door(custody string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := inbox.ReadAtMost(w, r, largest)
		if !ok {
			return
		}
		// Who sent it may go; what is begun is finished.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), bookedWithin)
		defer cancel()
		switch err := s.Receive(ctx, custody, r.Header, body); {
		case err == nil:
			inbox.Say(w, http.StatusOK, "")
		case errors.Is(err, provider.ErrForged):
			s.Log.Warn("a notification is not signed as it must be", "custodian", custody)
			inbox.Say(w, http.StatusUnauthorized, "The signature is wrong")
		default:
			s.Log.Error("a notification was not written down", "custodian", custody, "error", err)
			inbox.Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
		}
	})
}
