package inbox

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/secret"
)

// Pattern is where the door is, as net/http writes it.
const Pattern = "POST /callbacks/{provider}/{secret}"

// largest is how many bytes a notification may have: many times what any bank
// sends.
const largest = 64 << 10

// Path is the path of a provider's callback. It holds a secret that is derived
// from the master key: with a bank that signs nothing, knowing the address is
// all that tells a notification from an invention.
func (s *Service) Path(provider string) string {
	return "/callbacks/" + provider + "/" + spelled(s.Keys.MAC("callback", provider))
}

// spelled puts a MAC into characters that no URL has to escape, and meant reads
// it back.
func spelled(mac string) string  { return strings.Replace(mac, "$", ".", 1) }
func meant(secret string) string { return strings.Replace(secret, ".", "$", 1) }

// Door takes notifications at Pattern. Whoever does not know the secret is
// answered as at any unknown path, be the provider one of ours or not. A
// notification is not looked into here: what cannot be read is kept as well.
func (s *Service) Door() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("provider")
		if !s.Keys.Verify(meant(r.PathValue("secret")), "callback", name) || s.Banks[name] == nil {
			Say(w, http.StatusNotFound, "Not found")
			return
		}
		body, ok := Read(w, r)
		if !ok {
			return
		}
		err := s.lane.add(Notification{
			ID: s.idOf(name, body), Provider: name, Body: secret.NewText(string(body)), State: New, ReceivedAt: s.Clock.Now(),
		})
		if err != nil {
			// Whether or not it is there: sent again it is the same row.
			s.Log.Error("a notification was not stored", "provider", name, "error", err)
			Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		s.stored()
		Say(w, http.StatusOK, "")
	})
}

// Read is what a provider sent to a door of ours. Not ok means that the provider
// has been answered: it is too long, or was cut off.
func Read(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	return ReadAtMost(w, r, largest)
}

// ReadAtMost is Read for a door whose provider says more. A length that is
// declared and too long is refused before anything is read.
func ReadAtMost(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	tooLong := fmt.Sprintf("Request body is larger than %d KiB", most>>10)
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // the server would read on before it answers
		Say(w, http.StatusRequestEntityTooLarge, tooLong)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		Say(w, http.StatusRequestEntityTooLarge, tooLong)
	case err != nil:
		Say(w, http.StatusBadRequest, "The request was cut off")
	}
	return body, err == nil
}

// Say answers a provider: with what was wrong, or with success for "".
func Say(w http.ResponseWriter, status int, wrong string) {
	if wrong == "" {
		Reply(w, status, `{"status":"success"}`)
		return
	}
	Reply(w, status, `{"status":"error","message":"`+wrong+`"}`)
}

// Reply answers a provider that wants words of its own, in JSON.
func Reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.New(fault.Unavailable, "").RetryAfter())
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body+"\n") // nobody is left to tell when the sender has gone
}

// idOf is the same for the same notification, and tells nothing of what is in it.
func (s *Service) idOf(provider string, body []byte) string {
	return s.Keys.MAC("notification", provider, string(body))
}
