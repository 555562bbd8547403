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

// SyncFolder writes the names of a folder's files to the disk. Without it, a power failure may undo a
// rename or a link, although the file's content is on the disk. Some file systems, such as those over a
// network, cannot sync a folder and say so. Nothing more can be done there, so this is no error.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
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
