// Package secret derives all keys of Kobo, and provides a type for secret values that hides them in
// output.
//
// The fintech stores one master key. From the master key Kobo derives keys for signing tokens and
// for hashing API keys and PINs. It also derives keys for encrypting ("sealing") values that must
// be readable again. Kobo stores no derived key, so the database reveals no secret without the
// master key.
//
// A keyring is a text with one line "id:base64url(32 bytes)" for each master key. The first line is
// the current key, which signs, hashes and seals. The older keys below it only verify and open. To
// rotate the key, put a new line on top. To retire an old key, remove its line. Each hash and each
// sealed value contains the ID of its key.
package secret

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// size is the length of every key in bytes, which is 256 bits.
const size = 32

// Keyring holds the master keys. The current key is the first.
type Keyring struct {
	ids     []string
	master  map[string][]byte
	derived sync.Map // maps "id/purpose" to the derived []byte
}

var keyID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Parse reads a keyring. It ignores empty lines and lines that begin with #. Its errors contain the
// number of the line, but never the line's content.
func Parse(text string) (*Keyring, error) {
	k := &Keyring{master: map[string][]byte{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, encoded, _ := strings.Cut(line, ":")
		key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
		switch {
		case !keyID.MatchString(name):
			return nil, fmt.Errorf("secret: line %d of the master keyring does not begin with a key id and a colon", i+1)
		case err != nil || len(key) != size:
			return nil, fmt.Errorf("secret: line %d of the master keyring is not base64url of %d bytes", i+1, size)
		case k.master[name] != nil:
			return nil, fmt.Errorf("secret: line %d of the master keyring repeats a key id", i+1)
		}
		k.ids = append(k.ids, name)
		k.master[name] = key
	}
	if len(k.ids) == 0 {
		return nil, errors.New("secret: the master keyring holds no key")
	}
	return k, nil
}

// Generate returns a keyring line with a new master key.
func Generate() string {
	return hex.EncodeToString(random(4)) + ":" + base64.RawURLEncoding.EncodeToString(random(size)) + "\n"
}

// LoadOrCreate reads the keyring in a file. If the file does not exist, LoadOrCreate creates it,
// readable only by its owner. If two programs start together, one program creates the file and both
// read it.
func LoadOrCreate(path string) (*Keyring, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := Create(path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("secret: cannot read the master keyring: %w", err)
	}
	return Parse(string(text))
}

// Create creates a keyring with one new key, in a file that only its owner may read. If the file
// exists, Create leaves it unchanged and returns an error (fs.ErrExist). Create writes the file
// under a temporary name and then links it, so no program reads an incomplete file.
func Create(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyring-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("secret: cannot make the master keyring: %w", err)
	}
	_, err = f.WriteString(Generate())
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return fmt.Errorf("secret: cannot make the master keyring: %w", err)
	}
	return nil
}

// CheckMode returns an error if users other than the owner can write the file, because they could
// choose the master key. It also reports whether other users can read the file. On Windows the mode
// says nothing about other users, so CheckMode only checks that the file exists.
func CheckMode(path string) (readable bool, err error) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return false, err
	}
	mode := info.Mode().Perm()
	if mode&0o022 != 0 {
		return false, fmt.Errorf("%s has the mode %04o, so others than its owner can write it: chmod 600 %s", path, mode, path)
	}
	return mode&0o044 != 0, nil
}

// Random returns a new 256-bit secret as text. Its 43 characters are safe in URLs and headers.
func Random() string { return base64.RawURLEncoding.EncodeToString(random(size)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // the error is ignored, because crypto/rand ends the program instead of failing
	return b
}

// current returns the ID of the current key.
func (k *Keyring) current() string { return k.ids[0] }

// derive returns the key that HKDF-SHA-256 derives from a master key for one purpose. It returns
// false if the ring does not contain the master key. Each purpose has a different key, so a key for
// tokens cannot open a sealed value.
func (k *Keyring) derive(keyID, purpose string) ([]byte, bool) {
	if key, ok := k.derived.Load(keyID + "/" + purpose); ok {
		return key.([]byte), true
	}
	master, ok := k.master[keyID]
	if !ok {
		return nil, false
	}
	key, err := hkdf.Key(sha256.New, master, nil, "kobo/"+purpose, size)
	if err != nil {
		panic("secret: " + err.Error()) // this happens only for key lengths that Kobo does not use
	}
	k.derived.Store(keyID+"/"+purpose, key)
	return key, true
}
