//go:build unix

package secret

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// takeOwner gives a file the owner and the group of the file that it replaces.
func takeOwner(f *os.File, before fs.FileInfo) error {
	s, ok := before.Sys().(*syscall.Stat_t)
	if !ok || int(s.Uid) == os.Geteuid() && int(s.Gid) == os.Getegid() {
		return nil
	}
	return f.Chown(int(s.Uid), int(s.Gid))
}

// lockFolder waits for an exclusive lock on a folder, and returns the function that ends it.
func lockFolder(path string) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // the lock ends with the file
}
