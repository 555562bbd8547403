package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Signer provides the signing keys for tokens of one purpose.
type Signer struct {
	ring    *Keyring
	purpose string
}

// Signer returns the Signer for tokens of one purpose.
func (k *Keyring) Signer(purpose string) Signer { return Signer{k, "sign/" + purpose} }

// Current returns the current signing key and its ID.
func (s Signer) Current() (keyID string, key []byte) {
	keyID = s.ring.current()
	key, _ = s.ring.derive(keyID, s.purpose)
	return keyID, key
}

// Find returns the key with the given ID, for verifying a token. It returns false if the ID is
// unknown.
func (s Signer) Find(keyID string) ([]byte, bool) { return s.ring.derive(keyID, s.purpose) }

// MAC returns a keyed hash (HMAC-SHA-256) of the parts, as "keyid$hex". The hash includes the
// length of each part, so the parts "ab","c" and "a","bc" have different hashes.
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

// Verify reports whether tag is the MAC of the parts under any key of the ring. It compares in
// constant time.
func (k *Keyring) Verify(tag, purpose string, parts ...string) bool {
	keyID, _, ok := strings.Cut(tag, "$")
	if !ok {
		return false
	}
	want := k.mac(keyID, purpose, parts)
	return want != "" && hmac.Equal([]byte(want), []byte(tag))
}

// Stale reports whether a hash or a sealed value was made with an older key. After verifying such a
// value, the caller should replace it.
func (k *Keyring) Stale(tagged string) bool { return !strings.HasPrefix(tagged, k.current()+"$") }

// BlindIndex returns keyed hashes that replace a sealed value in an equality search. Equal values
// in one column of one company have equal hashes. Without the key, a hash reveals nothing about its
// value. The hash of the current key comes first. An older row may contain the hash of any older
// key.
func (k *Keyring) BlindIndex(company, column, value string) []string {
	out := make([]string, len(k.ids))
	for i, keyID := range k.ids {
		out[i] = k.mac(keyID, "index/"+column, []string{company, value})
	}
	return out
}

// Proofs returns one hash for each master key, by the key's ID. Only a holder of a key can compute
// its hash, and the hash reveals nothing about the key.
func (k *Keyring) Proofs() map[string]string {
	out := make(map[string]string, len(k.ids))
	for _, keyID := range k.ids {
		out[keyID] = k.mac(keyID, "proof", nil)
	}
	return out
}

// framed joins the parts, with the length of each part in front of it.
func framed(parts []string) []byte {
	var out []byte
	for _, p := range parts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}
