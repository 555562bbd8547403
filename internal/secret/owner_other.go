//go:build !unix

package secret

import (
	"io/fs"
	"os"
)

// takeOwner does nothing, because only Unix files have an owner and a group in their mode.
func takeOwner(*os.File, fs.FileInfo) error { return nil }

// SyncFolder does nothing, because only Unix can sync a folder.
func SyncFolder(string) error { return nil }

// lockFolder does nothing, because only Unix locks folders.
func lockFolder(string) (unlock func(), err error) { return func() {}, nil }
