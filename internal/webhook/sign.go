package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/secret"
)

// secretPrefix begins every secret, so that people and scanners know one.
const secretPrefix = "whsec_"

// sealedAs is the place that a sealed secret is bound to.
const sealedAs = "webhook_endpoint.secret"

// newSecret is a fresh secret: 256 bits.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// SecretOf is the secret for who signs outside of the service, such as
// `kobo listen`: made of a key, the same each time, and nothing can be told of
// the key by it.
func SecretOf(key string) secret.Text {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("kobo listen"))
	return secret.NewText(secretPrefix + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// Sign sets the three headers of the Standard Webhooks specification on a
// message: its id, which is the same each time it is sent; the moment; and one
// signature over id, moment and body for each secret.
func Sign(h http.Header, messageID string, at time.Time, body []byte, secrets ...secret.Text) error {
	moment := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), secretPrefix))
		if err != nil || len(key) == 0 {
			return errors.New("a secret is whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(messageID + "." + moment + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set("webhook-id", messageID)
	h.Set("webhook-timestamp", moment)
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return nil
}

// secrets are those that sign for an endpoint now, the current one first.
func (s *Service) secrets(e Endpoint, now time.Time) ([]secret.Text, error) {
	current, err := s.Keys.Open(e.Company, sealedAs, e.secret)
	if err != nil || e.oldSecret == "" || !now.Before(e.OldUntil) {
		return []secret.Text{current}, err
	}
	old, err := s.Keys.Open(e.Company, sealedAs, e.oldSecret)
	return []secret.Text{current, old}, err
}
