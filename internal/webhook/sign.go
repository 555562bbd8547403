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

// secretPrefix is the beginning of every secret, so that readers and secret scanners recognise
// secrets.
const secretPrefix = "whsec_"

// sealedAs is the column name that is part of the encryption of a secret. A ciphertext can be
// decrypted only as the content of this column.
const sealedAs = "webhook_endpoint.secret"

// place returns the place to which the encryption binds the secrets of an endpoint.
func (e Endpoint) place() secret.Place {
	return secret.Place{Company: e.Company, Column: sealedAs, Row: e.ID}
}

// newSecret returns a random secret of 256 bits.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // rand.Read never returns an error: crypto/rand ends the program instead
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// SecretOf returns the signing secret for programs such as `kobo listen`. The secret is derived
// from the given key. It is always the same for the same key, and reveals nothing about that key.
func SecretOf(key string) secret.Text {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("kobo listen"))
	return secret.NewText(secretPrefix + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// Sign sets the three headers of the Standard Webhooks specification: the message ID, the time
// and the signatures. The message ID is the same in all attempts. There is one signature for each
// secret, over the ID, the time and the body.
func Sign(h http.Header, messageID string, at time.Time, body []byte, secrets ...secret.Text) error {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), secretPrefix))
		if err != nil || len(key) == 0 {
			return errors.New("a secret is whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(messageID + "." + timestamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set("webhook-id", messageID)
	h.Set("webhook-timestamp", timestamp)
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return nil
}

// secrets returns the secrets that sign the endpoint's messages now. The current secret comes
// first.
func (s *Service) secrets(e Endpoint, now time.Time) ([]secret.Text, error) {
	current, err := s.Keys.Open(e.place(), e.secret)
	if err != nil || e.oldSecret == "" || !now.Before(e.OldUntil.Time) {
		return []secret.Text{current}, err
	}
	old, err := s.Keys.Open(e.place(), e.oldSecret)
	return []secret.Text{current, old}, err
}
