package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// The lock file PATH-lock is in the same folder as the SQLite database and is never replaced. Every
// program that has the database open holds a shared lock on the lock file. ReplaceSQLite takes an
// exclusive lock on the lock file. A lock on the database file would not be enough. A program that
// opens the database during the replacement could lock the old file. It would then use the
// write-ahead log of the new file, because SQLite finds this log by its name.
//
// The lock file is an empty SQLite database, so Kobo can use SQLite's locks.

// lockShared takes a shared lock on the lock file. It waits up to five seconds for a replacement to
// end.
func lockShared(ctx context.Context, path string) (*sql.DB, error) {
	return lockFile(ctx, path, "busy_timeout(5000)", "BEGIN", "SELECT 1 FROM sqlite_schema")
}

// lockExclusive takes an exclusive lock on the lock file. It returns ErrInUse if a program has the
// database open.
func lockExclusive(ctx context.Context, path string) (*sql.DB, error) {
	return lockFile(ctx, path, "busy_timeout(1000)", "BEGIN EXCLUSIVE")
}

// lockFile takes a lock on the lock file. The lock lasts until the returned connection closes.
func lockFile(ctx context.Context, path, timeout string, statements ...string) (*sql.DB, error) {
	file, err := single("rwc", path+"-lock", timeout)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	for _, statement := range statements {
		if err == nil {
			_, err = file.ExecContext(ctx, statement)
		}
	}
	if err == nil {
		err = shareLock(path)
	}
	switch {
	case err == nil:
		return file, nil
	case Classify(err) == Transient:
		err = ErrInUse
	}
	return nil, errors.Join(fmt.Errorf("db: cannot lock the SQLite database: %w", err), file.Close())
}

// shareLock gives the lock file the mode and, if it can, the owner of the database. Every user who
// may write the database must be able to lock the lock file. Only the owner of the lock file can
// change its mode, and only root can change its owner. So shareLock ignores a lack of permission.
func shareLock(path string) error {
	database, err := os.Stat(path)
	if err != nil {
		return err
	}
	lock, err := os.Stat(path + "-lock")
	if err != nil {
		return err
	}
	if lock.Mode().Perm() != database.Mode().Perm() {
		err = os.Chmod(path+"-lock", database.Mode().Perm())
	}
	uid, gid := owner(database)
	if u, g := owner(lock); u != uid || g != gid {
		err = errors.Join(err, os.Chown(path+"-lock", uid, gid))
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
