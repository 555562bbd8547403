// Package secret derives all keys of Kobo, and provides a type for secret values that hides them in
// output.
//
// The fintech stores one master key. From the master key Kobo derives keys for signing tokens and
// for hashing API keys and PINs. It also derives keys for encrypting ("sealing") values that must
// be readable again. Kobo stores no derived key, so the database reveals no secret without the
// master key.
//
// A keyring is a text with one line "id:base64url(32 bytes)" for each master key. The first line is
// the current key, which signs, hashes and seals. The keys below it only verify and open. Each hash
// and each sealed value contains the ID of its key.
//
// A rotation has two steps, because several programs may use one database. First each program gets
// the new line below the current line (AddLine). Then the new line becomes the first (PromoteLine).
// Package keyring decides when a program may write with the new line.
package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// size is the length of every key in bytes, which is 256 bits.
const size = 32

// Keyring holds the master keys. A running program can replace them (Extend, Become).
type Keyring struct {
	lines atomic.Pointer[lines]
	used  sync.Map // the IDs given to MarkUsed
}

// lines is the content of a keyring, which never changes.
type lines struct {
	ids     []string // in the order of the text
	master  map[string][]byte
	use     Use
	derived *sync.Map // maps "id/purpose" to the derived []byte, and "id/pool/evidence" to the keyed hashes
}

// Use says how a program writes with a keyring.
type Use struct {
	Current string   // the ID of the key that signs, hashes and seals
	Beside  []string // the IDs of the keys with which other running programs write
	Unbound bool     // sealed values are not bound to their rows, since an older program reads them too
}

var keyID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Parse reads a keyring. It ignores empty lines and lines that begin with #. Its errors contain the
// number of the line, but never the line's content.
func Parse(text string) (*Keyring, error) {
	l := &lines{master: map[string][]byte{}, derived: &sync.Map{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, encoded, _ := strings.Cut(line, ":")
		key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
		switch {
		case !keyID.MatchString(name):
			return nil, fmt.Errorf("secret: line %d of the keyring does not begin with a key id and a colon", i+1)
		case err != nil || len(key) != size:
			return nil, fmt.Errorf("secret: line %d of the keyring is not base64url of %d bytes", i+1, size)
		case l.master[name] != nil:
			return nil, fmt.Errorf("secret: line %d of the keyring repeats a key id", i+1)
		}
		l.ids = append(l.ids, name)
		l.master[name] = key
	}
	if len(l.ids) == 0 {
		return nil, errors.New("secret: the keyring holds no key")
	}
	l.use.Current = l.ids[0]
	k := &Keyring{}
	k.lines.Store(l)
	return k, nil
}

// IDs returns the IDs of all keys, in the order of the keyring's text.
func (k *Keyring) IDs() []string { return slices.Clone(k.lines.Load().ids) }

// Current returns the ID of the current key.
func (k *Keyring) Current() string { return k.lines.Load().use.Current }

// Extend adds the keys of a different keyring. The new keys only verify and open. It returns an
// error if a known ID has a different key there. The function undo takes the new keys back.
func (k *Keyring) Extend(other *Keyring) (undo func(), err error) {
	before, add := k.lines.Load(), other.lines.Load()
	now := *before
	now.ids, now.master = slices.Clone(now.ids), maps.Clone(now.master)
	for _, name := range add.ids {
		switch known := now.master[name]; {
		case known == nil:
			now.ids, now.master[name] = append(now.ids, name), add.master[name]
		case subtle.ConstantTimeCompare(known, add.master[name]) == 0:
			return nil, fmt.Errorf("secret: the keyring now has a different key with the id %s", name)
		}
	}
	k.lines.Store(&now)
	return func() { k.lines.Store(before) }, nil
}

// Become makes the keyring hold exactly the keys of a different keyring, and use them as stated.
func (k *Keyring) Become(other *Keyring, use Use) {
	next := *other.lines.Load()
	next.use = use
	k.lines.Store(&next)
}

// MarkUsed records that a hash of an older key was presented. TakeUsed returns such keys.
func (k *Keyring) MarkUsed(tagged string) {
	if keyID, _, ok := strings.Cut(tagged, "$"); ok && keyID != k.Current() {
		k.used.Store(keyID, true)
	}
}

// TakeUsed returns the IDs of the keys for which MarkUsed was called since the last TakeUsed.
func (k *Keyring) TakeUsed() (ids []string) {
	k.used.Range(func(keyID, _ any) bool {
		k.used.Delete(keyID)
		ids = append(ids, keyID.(string))
		return true
	})
	return ids
}

// Generate returns a keyring line with a new master key.
func Generate() string {
	return hex.EncodeToString(random(4)) + ":" + base64.RawURLEncoding.EncodeToString(random(size)) + "\n"
}

// Random returns a new 256-bit secret as text. Its 43 characters are safe in URLs and headers.
func Random() string { return base64.RawURLEncoding.EncodeToString(random(size)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // the error is ignored, because crypto/rand ends the program instead of failing
	return b
}

// derive returns the key that HKDF-SHA-256 derives from a master key for one purpose. It returns
// false if the ring does not contain the master key. Each purpose has a different key, so a key for
// tokens cannot open a sealed value.
func (l *lines) derive(keyID, purpose string) ([]byte, bool) {
	if key, ok := l.derived.Load(keyID + "/" + purpose); ok {
		return key.([]byte), true
	}
	master, ok := l.master[keyID]
	if !ok {
		return nil, false
	}
	key, err := hkdf.Key(sha256.New, master, nil, "kobo/"+purpose, size)
	if err != nil {
		panic("secret: " + err.Error()) // this happens only for key lengths that Kobo does not use
	}
	l.derived.Store(keyID+"/"+purpose, key)
	return key, true
}
