package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tink-crypto/tink-go/v2/tink"
)

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
		return nil, fmt.Errorf("secret: cannot read the keyring: %w", err)
	}
	return Parse(string(text))
}

// Create creates a keyring with one new key, in a file that only its owner may read. If the file
// exists, Create leaves it unchanged and returns an error (fs.ErrExist). Create writes the file
// under a temporary name and then links it, so no program reads an incomplete file.
func Create(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyring-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("secret: cannot make the keyring: %w", err)
	}
	_, err = f.WriteString(Generate())
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	err = errors.Join(err, os.Remove(f.Name()))
	if err == nil {
		err = SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("secret: cannot make the keyring: %w", err)
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

// File is the file of a keyring. The file is plain, or wrapped: then a key of a KMS encrypts its content.
type File struct {
	Path string
	KMS  tink.AEAD // the key of the KMS; nil without one
}

const (
	// wrapped begins the content of a wrapped file. The base64 of the ciphertext follows.
	wrapped = "wrapped:v1:"
	// purpose is the associated data of the ciphertext. So no ciphertext that the same key has made for
	// another purpose passes for a keyring.
	purpose = "kobo/keyring"
)

// IsWrapped reports whether the content of a keyring's file is wrapped.
func IsWrapped(content string) bool { return strings.HasPrefix(content, wrapped) }

// Unwrap returns the plain text of the file's content.
func (f File) Unwrap(content string) (string, error) {
	sealed, is := strings.CutPrefix(content, wrapped)
	switch {
	case !is:
		return content, nil
	case f.KMS == nil:
		return "", fmt.Errorf("%s is wrapped by a KMS: set master_key_kms", f.Path)
	}
	ciphertext, err := base64.StdEncoding.DecodeString(strings.TrimSpace(sealed))
	if err != nil {
		return "", fmt.Errorf("%s is damaged: the wrapped text is not base64", f.Path)
	}
	text, err := f.KMS.Decrypt(ciphertext, []byte(purpose))
	return string(text), err
}

// wrap returns the content of a wrapped file for a plain text. It first checks that the KMS opens the
// new ciphertext.
func (f File) wrap(text string) (string, error) {
	if f.KMS == nil {
		return "", errors.New("master_key_kms is not set")
	}
	ciphertext, err := f.KMS.Encrypt([]byte(text), []byte(purpose))
	if err != nil {
		return "", err
	}
	content := wrapped + base64.StdEncoding.EncodeToString(ciphertext) + "\n"
	if again, err := f.Unwrap(content); err != nil || again != text {
		return "", errors.Join(errors.New("the KMS does not open what it has encrypted, so the file is unchanged"), err)
	}
	return content, nil
}

// Read returns the keyring in the file.
func (f File) Read() (*Keyring, error) {
	content, err := os.ReadFile(f.Path)
	if err != nil {
		return nil, err
	}
	text, err := f.Unwrap(string(content))
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Wrap encrypts the file with the key of the KMS. A file that is wrapped already is encrypted again, with
// the newest version of the key.
func (f File) Wrap() error { return f.edit(f.wrap, unchanged) }

// WriteUnwrapped replaces a wrapped file by a plain one.
func (f File) WriteUnwrapped() error { return f.edit(plain, unchanged) }

func unchanged(text []string) ([]string, error) { return text, nil }

func plain(text string) (string, error) { return text, nil }

// AddLine adds a line with a new key at the end of the file, and returns the key's ID. The new key only
// verifies and opens.
func (f File) AddLine() (keyID string, err error) {
	line := strings.TrimSpace(Generate())
	keyID, _, _ = strings.Cut(line, ":")
	return keyID, f.edit(nil, func(text []string) ([]string, error) { return append(text, line), nil })
}

// PromoteLine makes a line of the file the first line, so that its key becomes the current key.
func (f File) PromoteLine(keyID string) error {
	return f.edit(nil, func(text []string) ([]string, error) {
		i := slices.IndexFunc(text, isLine(keyID))
		if i < 0 {
			return nil, fmt.Errorf("secret: %s has no line %s", f.Path, keyID)
		}
		line, rest := text[i], slices.Delete(slices.Clone(text), i, i+1)
		first := slices.IndexFunc(rest, func(s string) bool { return s != "" && !strings.HasPrefix(s, "#") })
		if first < 0 {
			return text, nil
		}
		return slices.Insert(rest, first, line), nil
	})
}

// RemoveLine removes a line from the file. The last remaining line cannot be removed.
func (f File) RemoveLine(keyID string) error {
	return f.edit(nil, func(text []string) ([]string, error) { return slices.DeleteFunc(text, isLine(keyID)), nil })
}

func isLine(keyID string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, keyID+":") }
}

// edit replaces the lines of the file. The function as returns the content of the new file for its plain
// text. If as is nil, a wrapped file stays wrapped and a plain one plain.
//
// The file keeps its mode and its owner. The change is atomic: a program that reads the file meanwhile
// finds the old or the new content. Commands that edit files of one folder wait for each other (not on
// Windows).
func (f File) edit(as func(string) (string, error), change func(text []string) ([]string, error)) error {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		return fmt.Errorf("secret: cannot change the keyring: %w", err)
	}
	unlock, err := lockFolder(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("secret: cannot change the keyring: %w", err)
	}
	defer unlock()
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("secret: cannot change the keyring: %w", err)
	}
	next, err := f.changed(string(old), change)
	if err != nil {
		return err
	}
	if as == nil && IsWrapped(string(old)) {
		as = f.wrap
	}
	if as != nil {
		if next, err = as(next); err != nil {
			return err
		}
	}
	if err := replace(path, next); err != nil {
		return fmt.Errorf("secret: cannot change the keyring: %w", err)
	}
	return nil
}

// changed returns the plain text of the file after a change of its lines.
func (f File) changed(content string, change func(text []string) ([]string, error)) (string, error) {
	old, err := f.Unwrap(content)
	if err != nil {
		return "", err
	}
	text := strings.Split(strings.TrimRight(old, "\r\n"), "\n")
	for i := range text {
		text[i] = strings.TrimSpace(text[i])
	}
	if text, err = change(text); err != nil {
		return "", err
	}
	next := strings.Join(text, "\n") + "\n"
	_, err = Parse(next)
	return next, err
}

func replace(path, text string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keyring-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), takeOwner(f, info), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncFolder(filepath.Dir(path))
}
