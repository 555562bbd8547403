package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Signer gives the signing keys for tokens of one purpose.
type Signer struct {
	ring    *Keyring
	purpose string
}

// Signer returns the Signer for tokens of one purpose.
func (k *Keyring) Signer(purpose string) Signer { return Signer{k, "sign/" + purpose} }

// Current returns the current signing key and its id.
func (s Signer) Current() (keyID string, key []byte) {
	keyID = s.ring.current()
	key, _ = s.ring.derive(keyID, s.purpose)
	return keyID, key
}

// Find returns the key with an id, for verifying. It returns false for an unknown id.
func (s Signer) Find(keyID string) ([]byte, bool) { return s.ring.derive(keyID, s.purpose) }

// MAC returns a keyed hash of the parts, HMAC-SHA-256, as "keyid$hex". The hash includes the
// length of each part, so "ab","c" differs from "a","bc".
func (k *Keyring) MAC(purpose string, parts ...string) string {
	return k.mac(k.current(), purpose, parts)
}

func (k *Keyring) mac(keyID, purpose string, parts []string) string {
	key, ok := k.derive(keyID, "hash/"+purpose)
	if !ok {
		return ""
	}
	h := hmac.New(sha256.New, key)
	h.Write(framed(parts))
	return keyID + "$" + hex.EncodeToString(h.Sum(nil))
}

// Verify tells, in constant time, whether tag is the MAC of the parts under any
// key of the ring.
func (k *Keyring) Verify(tag, purpose string, parts ...string) bool {
	keyID, _, ok := strings.Cut(tag, "$")
	if !ok {
		return false
	}
	want := k.mac(keyID, purpose, parts)
	return want != "" && hmac.Equal([]byte(want), []byte(tag))
}

// Stale reports whether a tag or a sealed value comes from an older key. The caller that has
// verified the value should then replace it.
func (k *Keyring) Stale(tagged string) bool { return !strings.HasPrefix(tagged, k.current()+"$") }

// BlindIndex replaces a sealed value in an equality search. Equal values in one column of
// one company have equal indexes. Without the key an index reveals nothing about its value.
// The current key's index comes first, and an older row may hold any other.
func (k *Keyring) BlindIndex(company, column, value string) []string {
	out := make([]string, len(k.ids))
	for i, keyID := range k.ids {
		out[i] = k.mac(keyID, "index/"+column, []string{company, value})
	}
	return out
}

// Proofs returns hashes by the keys' ids. Only a holder of a key can compute its proof, and a
// proof reveals nothing about the key.
func (k *Keyring) Proofs() map[string]string {
	out := make(map[string]string, len(k.ids))
	for _, keyID := range k.ids {
		out[keyID] = k.mac(keyID, "proof", nil)
	}
	return out
}

// framed puts the length of each part in front of it.
func framed(parts []string) []byte {
	var out []byte
	for _, p := range parts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}
