package deployment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// read returns the mark in a file, or false if the file does not exist. Any other content is an
// error, because without the mark the program cannot know whether the database is an old copy.
func read(path string) (m Mark, there bool, err error) {
	b, err := os.ReadFile(path) //nolint:gosec // the configured file
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{}, false, nil
	}
	if err != nil {
		return Mark{}, false, fmt.Errorf("epoch_file: %w", err)
	}
	name, number, _ := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	epoch, err := strconv.ParseInt(number, 10, 64)
	if err != nil || name == "" || epoch < 1 {
		return Mark{}, false, fmt.Errorf("epoch_file: %s holds no epoch: remove it if the database is not an old copy", path)
	}
	return Mark{Name: name, Epoch: epoch}, true, nil
}

// write writes a mark into a file that only its owner may read. After a crash the file contains
// either the earlier mark or the new mark. The function sync writes the new name of the file to the disk,
// so that a power failure does not bring the earlier mark back after write has returned.
func write(path string, m Mark, sync func(folder string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return fmt.Errorf("epoch_file: %w", err)
	}
	_, err = fmt.Fprintf(draft, "%s %d\n", m.Name, m.Epoch)
	if err == nil {
		err = draft.Sync()
	}
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("epoch_file: %w", errors.Join(err, os.Remove(draft.Name())))
	}
	if err := sync(filepath.Dir(path)); err != nil {
		return fmt.Errorf("epoch_file: %w", err)
	}
	return nil
}
