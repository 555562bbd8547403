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
	// largest is the most bytes of a notification.
	largest = 256 << 10
	// recordWithin is the timeout of recording a notification. A custodian without an
	// answer for ten seconds sends it again.
	recordWithin = 8 * time.Second
)

// Door returns the handler of a custodian's callbacks. It checks the signature first,
// records the movements, and then answers. It stores no unread notification, unlike
// the inbox: a custodian repeats a notification and lists those that never arrived.
func (s *Service) Door(custody string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := inbox.ReadAtMost(w, r, largest)
		if !ok {
			return
		}
		// The recording goes on when the sender closes the connection.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), recordWithin)
		defer cancel()
		switch err := s.Receive(ctx, custody, r.Header, body); {
		case err == nil:
			inbox.Say(w, http.StatusOK, "")
		case errors.Is(err, provider.ErrForged):
			s.Log.Warn("a notification has no valid signature", "custodian", custody)
			inbox.Say(w, http.StatusUnauthorized, "The signature is wrong")
		default:
			s.Log.Error("a notification was not recorded", "custodian", custody, "error", err)
			inbox.Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
		}
	})
}
