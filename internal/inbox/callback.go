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

// Pattern is the callback's path, as net/http writes it.
const Pattern = "POST /callbacks/{provider}/{secret}"

// largest is the most bytes of a notification: many times the size that banks send.
const largest = 64 << 10

// Path returns the path of a provider's callback. It holds a secret that is derived from
// the master key. If a bank signs nothing, the secret path alone shows that a
// notification is from the bank.
func (s *Service) Path(provider string) string {
	return "/callbacks/" + provider + "/" + encodeMAC(s.Keys.MAC("callback", provider))
}

// encodeMAC writes a MAC in characters that a URL does not escape, and decodeMAC
// reads it.
func encodeMAC(mac string) string    { return strings.Replace(mac, "$", ".", 1) }
func decodeMAC(secret string) string { return strings.Replace(secret, ".", "$", 1) }

// Door returns the handler of callbacks at Pattern. A wrong secret gets the answer of an
// unknown path, for every provider. The handler does not read a notification, so
// unreadable notifications are stored as well.
func (s *Service) Door() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("provider")
		if !s.Keys.Verify(decodeMAC(r.PathValue("secret")), "callback", name) || s.Banks[name] == nil {
			Say(w, http.StatusNotFound, "Not found")
			return
		}
		body, ok := Read(w, r)
		if !ok {
			return
		}
		err := s.store(Notification{
			company: House, ID: s.idOf(name, body), Provider: name, Body: secret.NewText(string(body)), State: New,
			ReceivedAt: s.Clock.Now(),
		})
		if err != nil {
			// The provider sends it again. If it was stored, that changes nothing.
			s.Log.Error("a notification was not stored", "provider", name, "error", err)
			Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		s.Stored()
		Say(w, http.StatusOK, "")
	})
}

// Read reads a request of a provider. If the request is too long or cut off, Read
// answers it and ok is false.
func Read(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	return ReadAtMost(w, r, largest)
}

// ReadAtMost is Read with a limit of its own. A request whose declared length exceeds
// the limit is refused before it is read.
func ReadAtMost(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	tooLong := fmt.Sprintf("Request body is larger than %d KiB", most>>10)
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // otherwise the server reads the rest before it answers
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

// Say answers a provider with an error message, or with success for "".
func Say(w http.ResponseWriter, status int, wrong string) {
	if wrong == "" {
		Reply(w, status, `{"status":"success"}`)
		return
	}
	Reply(w, status, `{"status":"error","message":"`+wrong+`"}`)
}

// Reply answers a provider with this JSON body.
func Reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.New(fault.Unavailable, "").RetryAfter())
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body+"\n") // nobody reads the error of a closed connection
}

// idOf returns the id of a notification: equal for equal bodies. It reveals nothing of the
// body.
func (s *Service) idOf(provider string, body []byte) string {
	return s.Keys.MAC("notification", provider, string(body))
}
