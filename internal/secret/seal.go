package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// Seal encrypts a value that must be readable again, such as a BVN. It uses AES-256-GCM and returns
// "keyid$base64url". The result is bound to the company and the column. A copy of it in another
// column or company does not open.
func (k *Keyring) Seal(company, column, value string) (string, error) {
	box, err := k.box(k.current(), column)
	if err != nil {
		return "", err
	}
	sealed, err := box.Encrypt([]byte(value), framed([]string{company, column}))
	if err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	return k.current() + "$" + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// ErrSealed is the only error for a sealed value that does not open. It does not reveal whether the
// key, the place or the content is wrong.
var ErrSealed = errors.New("secret: the sealed value does not open")

// Open decrypts what Seal made for the same company and column.
func (k *Keyring) Open(company, column, sealed string) (Text, error) {
	keyID, encoded, _ := strings.Cut(sealed, "$")
	box, err := k.box(keyID, column)
	if err != nil {
		return Text{}, err
	}
	b, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Text{}, ErrSealed
	}
	value, err := box.Decrypt(b, framed([]string{company, column}))
	if err != nil {
		return Text{}, ErrSealed
	}
	return NewText(string(value)), nil
}

func (k *Keyring) box(keyID, column string) (*subtle.AESGCM, error) {
	key, ok := k.derive(keyID, "seal/"+column)
	if !ok {
		return nil, ErrSealed
	}
	return subtle.NewAESGCM(key)
}
