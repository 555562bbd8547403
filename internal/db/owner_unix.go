//go:build unix

package db

import (
	"io/fs"
	"syscall"
)

// owner returns the user and the group of a file.
func owner(file fs.FileInfo) (uid, gid int) {
	if s, ok := file.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return 0, 0
}
