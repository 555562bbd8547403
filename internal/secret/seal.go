package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// Place is the field of a row that contains a sealed value. A copy of the value in a different
// place does not open.
type Place struct{ Company, Column, Row string }

// bound is the mark of a sealed value that is bound to its row. Values of older programs have no
// mark, and are bound to the company and the column only.
const bound = "row$"

func (p Place) text(isBound bool) []byte {
	if isBound {
		return framed([]string{p.Company, p.Column, p.Row})
	}
	return framed([]string{p.Company, p.Column})
}

// Seal encrypts a value that must be readable again, such as a BVN. It uses AES-256-GCM and returns
// "keyid$row$base64url".
func (k *Keyring) Seal(at Place, value string) (string, error) {
	l := k.lines.Load()
	box, err := l.box(l.use.Current, at.Column)
	if err != nil {
		return "", err
	}
	sealed, err := box.Encrypt([]byte(value), at.text(!l.use.Unbound))
	if err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	head := l.use.Current + "$"
	if !l.use.Unbound {
		head += bound
	}
	return head + base64.RawURLEncoding.EncodeToString(sealed), nil
}

// ErrSealed is the only error for a sealed value that does not open. It does not reveal whether the
// key, the place or the content is wrong.
var ErrSealed = errors.New("secret: the sealed value does not open")

// Open decrypts what Seal made for the same place. It also opens the values of older programs,
// which are not bound to a row.
func (k *Keyring) Open(at Place, sealed string) (Text, error) {
	keyID, encoded, _ := strings.Cut(sealed, "$")
	box, err := k.lines.Load().box(keyID, at.Column)
	if err != nil {
		return Text{}, err
	}
	encoded, isBound := strings.CutPrefix(encoded, bound)
	b, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Text{}, ErrSealed
	}
	value, err := box.Decrypt(b, at.text(isBound))
	if err != nil {
		return Text{}, ErrSealed
	}
	return NewText(string(value)), nil
}

// Reseal seals a value again if an older key made it, or if it is not bound to its row. It returns
// other values unchanged.
func (k *Keyring) Reseal(at Place, sealed string) (string, error) {
	if strings.HasPrefix(sealed, k.Current()+"$"+bound) {
		return sealed, nil
	}
	value, err := k.Open(at, sealed)
	if err != nil {
		return "", err
	}
	return k.Seal(at, value.Reveal())
}

func (l *lines) box(keyID, column string) (*subtle.AESGCM, error) {
	key, ok := l.derive(keyID, "seal/"+column)
	if !ok {
		return nil, ErrSealed
	}
	return subtle.NewAESGCM(key)
}
