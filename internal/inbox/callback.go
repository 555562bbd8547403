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

// Pattern is the method and path of callbacks, as a pattern for http.ServeMux.
const Pattern = "POST /callbacks/{provider}/{secret}"

// largest is the maximum size of a notification in bytes. It is many times the size that banks
// send.
const largest = 64 << 10

// Path returns the path of a provider's callback. The path contains a secret that is derived from
// the master key. Some banks do not sign notifications. For such a bank, only the secret in the
// path shows that a notification is from the bank.
func (s *Service) Path(provider string) string {
	return "/callbacks/" + provider + "/" + encodeMAC(s.Keys.MAC("callback", provider))
}

// Genuine reports whether a request came to the path of a provider's callback. It is for callbacks
// that the inbox does not store. The path value "secret" must have the last part of the path.
func (s *Service) Genuine(r *http.Request, provider string) bool {
	mac := decodeMAC(r.PathValue("secret"))
	if !s.Keys.Verify(mac, "callback", provider) {
		return false
	}
	s.Keys.MarkUsed(mac)
	return true
}

// encodeMAC returns a MAC in characters that need no escaping in a URL. decodeMAC reverses
// encodeMAC.
func encodeMAC(mac string) string    { return strings.Replace(mac, "$", ".", 1) }
func decodeMAC(secret string) string { return strings.Replace(secret, ".", "$", 1) }

// CallbackHandler returns the HTTP handler of callbacks at Pattern. For a wrong secret or an
// unknown provider, the response is the same as for an unknown path. The handler stores each
// notification without parsing it, so unreadable notifications are stored as well.
func (s *Service) CallbackHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("provider")
		if s.Banks[name] == nil || !s.Genuine(r, name) {
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
			// The provider sends the notification again. If the notification was stored after
			// all, the repetition changes nothing.
			s.Log.Error("a notification was not stored", "provider", name, "error", err)
			Say(w, http.StatusServiceUnavailable, "Service temporarily unavailable")
			return
		}
		s.Stored()
		Say(w, http.StatusOK, "")
	})
}

// Read returns the body of a provider's request. If the body is too long or incomplete, Read
// writes an error response and ok is false.
func Read(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	return ReadAtMost(w, r, largest)
}

// ReadAtMost works like Read, but the caller sets the limit in bytes with most. A request whose
// declared length exceeds the limit is refused before its body is read.
func ReadAtMost(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	tooLong := fmt.Sprintf("Request body is larger than %d KiB", most>>10)
	if r.ContentLength > most {
		w.Header().Set("Connection", "close") // otherwise the server reads the rest of the body before it responds
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

// Say writes a response to a provider. The response reports the error in parameter wrong, or
// success if wrong is empty.
func Say(w http.ResponseWriter, status int, wrong string) {
	if wrong == "" {
		Reply(w, status, `{"status":"success"}`)
		return
	}
	Reply(w, status, `{"status":"error","message":"`+wrong+`"}`)
}

// Reply writes a response to a provider, with this status and this JSON body.
func Reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", fault.New(fault.Unavailable, "").RetryAfter())
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body+"\n") // an error means that the connection is closed, so there is nothing left to do
}

// idOf returns the ID of a notification. Equal bodies have equal IDs, and the ID reveals nothing
// about the body.
func (s *Service) idOf(provider string, body []byte) string {
	return s.Keys.MAC("notification", provider, string(body))
}
