package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
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

// AddLine adds a line with a new key at the end of a keyring's file, and returns the key's ID. The
// new key only verifies and opens.
func AddLine(path string) (keyID string, err error) {
	line := strings.TrimSpace(Generate())
	keyID, _, _ = strings.Cut(line, ":")
	return keyID, edit(path, func(text []string) ([]string, error) { return append(text, line), nil })
}

// PromoteLine makes a line of a keyring's file the first line, so that its key becomes the current
// key.
func PromoteLine(path, keyID string) error {
	return edit(path, func(text []string) ([]string, error) {
		i := slices.IndexFunc(text, isLine(keyID))
		if i < 0 {
			return nil, fmt.Errorf("secret: %s has no line %s", path, keyID)
		}
		line, rest := text[i], slices.Delete(slices.Clone(text), i, i+1)
		first := slices.IndexFunc(rest, func(s string) bool { return s != "" && !strings.HasPrefix(s, "#") })
		if first < 0 {
			return text, nil
		}
		return slices.Insert(rest, first, line), nil
	})
}

// RemoveLine removes a line from a keyring's file. The last remaining line cannot be removed.
func RemoveLine(path, keyID string) error {
	return edit(path, func(text []string) ([]string, error) { return slices.DeleteFunc(text, isLine(keyID)), nil })
}

func isLine(keyID string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, keyID+":") }
}

// edit replaces the lines of a keyring's file. The file keeps its mode and its owner. The change is
// atomic: a program that reads the file meanwhile finds the old or the new content. Commands that edit
// files of one folder wait for each other (not on Windows).
func edit(path string, change func(text []string) ([]string, error)) error {
	path, err := filepath.EvalSymlinks(path)
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
	text := strings.Split(strings.TrimRight(string(old), "\r\n"), "\n")
	for i := range text {
		text[i] = strings.TrimSpace(text[i])
	}
	if text, err = change(text); err != nil {
		return err
	}
	next := strings.Join(text, "\n") + "\n"
	if _, err := Parse(next); err != nil {
		return err
	}
	if err := replace(path, next); err != nil {
		return fmt.Errorf("secret: cannot change the keyring: %w", err)
	}
	return nil
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
	return nil
}
