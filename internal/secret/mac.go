package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
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
	l := s.ring.lines.Load()
	key, _ = l.derive(l.use.Current, s.purpose)
	return l.use.Current, key
}

// Find returns the key with the given ID, for verifying a token. It returns false if the ID is
// unknown.
func (s Signer) Find(keyID string) ([]byte, bool) {
	return s.ring.lines.Load().derive(keyID, s.purpose)
}

// MAC returns a keyed hash (HMAC-SHA-256) of the parts, as "keyid$hex". The hash includes the
// length of each part, so the parts "ab","c" and "a","bc" have different hashes.
func (k *Keyring) MAC(purpose string, parts ...string) string {
	l := k.lines.Load()
	return l.mac(l.use.Current, purpose, parts)
}

func (l *lines) mac(keyID, purpose string, parts []string) string {
	key, ok := l.derive(keyID, "hash/"+purpose)
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
	want := k.lines.Load().mac(keyID, purpose, parts)
	return want != "" && hmac.Equal([]byte(want), []byte(tag))
}

// Stale reports whether a hash was made with a key that no running program writes with. After
// verifying such a hash, the caller should replace it. During a rotation two programs may write with
// different keys, and neither replaces the hashes of the other.
func (k *Keyring) Stale(tagged string) bool {
	use, keyID := k.lines.Load().use, KeyOf(tagged)
	return keyID != use.Current && !slices.Contains(use.Beside, keyID)
}

// KeyOf returns the ID of the key with which a hash or a sealed value was made.
func KeyOf(tagged string) string {
	keyID, _, _ := strings.Cut(tagged, "$")
	return keyID
}

// BlindIndex returns keyed hashes that replace a sealed value in an equality search. Equal values
// in one column of one company have equal hashes. Without the key, a hash reveals nothing about its
// value. The hash of the current key comes first. A row may contain the hash of any other key.
func (k *Keyring) BlindIndex(company, column, value string) []string {
	l := k.lines.Load()
	out := make([]string, 1, len(l.ids))
	for _, keyID := range l.ids {
		index := l.mac(keyID, "index/"+column, []string{company, value})
		if keyID == l.use.Current {
			out[0] = index
		} else {
			out = append(out, index)
		}
	}
	return out
}

// Proofs returns one hash for each master key, by the key's ID. Only a holder of a key can compute
// its hash, and the hash reveals nothing about the key.
func (k *Keyring) Proofs() map[string]string {
	l := k.lines.Load()
	out := make(map[string]string, len(l.ids))
	for _, keyID := range l.ids {
		out[keyID] = l.mac(keyID, "proof", nil)
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
