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
	// largest is the maximum size of a notification in bytes.
	largest = 256 << 10
	// recordWithin is the time within which a notification must be recorded. If Kobo does not
	// respond within ten seconds, the custodian sends the notification again.
	recordWithin = 8 * time.Second
)

// CallbackHandler returns the HTTP handler for a custodian's notifications. The handler checks the
// signature, records the movements and then responds. It stores a notification only if its meaning is
// unknown. No movement is lost, because the custodian repeats a notification until it is accepted,
// and lists movements whose notification never arrived.
func (s *Service) CallbackHandler(custody string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := inbox.ReadAtMost(w, r, largest)
		if !ok {
			return
		}
		// The recording continues even if the sender closes the connection.
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
