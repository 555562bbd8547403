package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"sync"
)

// macSize is the length of the MAC of evidence in bytes. HMAC-SHA-256 is cut to this length.
const macSize = 16

// Evidence makes and checks the MACs of rows that must never change. Its keys come from a keyring of
// the same format as the master keyring. The current line makes new MACs, and all lines check MACs. A
// line is never removed, because the rows of its time can be checked only with it.
type Evidence struct{ ring *Keyring }

// Evidence returns the evidence keys of a keyring.
func (k *Keyring) Evidence() *Evidence { return &Evidence{k} }

// macs returns keyed hashes of a line that are ready for use.
func (l *lines) macs(keyID string) *sync.Pool {
	name := keyID + "/pool/evidence" // no purpose begins with "pool/"
	if p, ok := l.derived.Load(name); ok {
		return p.(*sync.Pool)
	}
	key, _ := l.derive(keyID, "evidence")
	p, _ := l.derived.LoadOrStore(name, &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }})
	return p.(*sync.Pool)
}

// MAC returns the MAC of a row's content as text of 22 characters (base64url).
func (e *Evidence) MAC(content []byte) string {
	l := e.ring.lines.Load()
	return mac(l.macs(l.use.Current), content)
}

// Verify reports whether a text is the MAC of the content under one of the keys.
func (e *Evidence) Verify(content []byte, text string) bool {
	l := e.ring.lines.Load()
	for _, keyID := range l.ids {
		if hmac.Equal([]byte(mac(l.macs(keyID), content)), []byte(text)) {
			return true
		}
	}
	return false
}

func mac(key *sync.Pool, content []byte) string {
	h := key.Get().(hash.Hash)
	defer key.Put(h)
	h.Reset()
	h.Write(content)
	var sum [sha256.Size]byte
	var text [(macSize*8 + 5) / 6]byte
	base64.RawURLEncoding.Encode(text[:], h.Sum(sum[:0])[:macSize])
	return string(text[:])
}
