package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Signer hands out the keys that sign tokens of one purpose.
type Signer struct {
	ring    *Keyring
	purpose string
}

// Signer is for tokens of one purpose.
func (k *Keyring) Signer(purpose string) Signer { return Signer{k, "sign/" + purpose} }

// Current is the key that signs now, and its id.
func (s Signer) Current() (keyID string, key []byte) {
	keyID = s.ring.current()
	key, _ = s.ring.derive(keyID, s.purpose)
	return keyID, key
}

// Find is the key of that id, for verifying; false if the ring does not hold it.
func (s Signer) Find(keyID string) ([]byte, bool) { return s.ring.derive(keyID, s.purpose) }

// MAC is a keyed hash of the parts, HMAC-SHA-256, as "keyid$hex". Parts are kept
// apart by their length, so that "ab","c" is not "a","bc".
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

// Stale tells whether a tag, or a sealed value, was made with an older key, so
// that whoever has just verified it should make it anew.
func (k *Keyring) Stale(tagged string) bool { return !strings.HasPrefix(tagged, k.current()+"$") }

// BlindIndex stands for a sealed value in an equality search: the same value of
// the same column of the same company gives the same index, which tells nothing
// about the value to who lacks the key. The current key's comes first; an older
// row may hold any of the others.
func (k *Keyring) BlindIndex(company, column, value string) []string {
	out := make([]string, len(k.ids))
	for i, keyID := range k.ids {
		out[i] = k.mac(keyID, "index/"+column, []string{company, value})
	}
	return out
}

// Proofs are, by the key's id, what only a holder of that key can say. They tell
// nothing about it.
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
