package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// The file PATH-lock lies beside a SQLite database and is never replaced. Every
// program that has the database open holds a shared lock on it, and ReplaceSQLite
// an exclusive one. Locks on the database itself are not enough: a program that opens
// it in the moment of the replacement could lock the old file and then find the
// write-ahead log of the new one by its name.
//
// The lock file is an empty SQLite database, so SQLite's own locks serve.

// lockShared waits up to five seconds for a replacement to end.
func lockShared(ctx context.Context, path string) (*sql.DB, error) {
	return lockFile(ctx, path, "busy_timeout(5000)", "BEGIN", "SELECT 1 FROM sqlite_schema")
}

// lockExclusive returns ErrInUse while a program has the database open.
func lockExclusive(ctx context.Context, path string) (*sql.DB, error) {
	return lockFile(ctx, path, "busy_timeout(1000)", "BEGIN EXCLUSIVE")
}

// lockFile takes a lock that lasts until the connection closes.
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

// shareLock gives the lock file the mode of the database, since all who may write
// the one must be able to lock the other. Only the owner of a file can do so.
func shareLock(path string) error {
	database, err := os.Stat(path)
	if err != nil {
		return err
	}
	lock, err := os.Stat(path + "-lock")
	if err != nil || lock.Mode().Perm() == database.Mode().Perm() {
		return err
	}
	if err = os.Chmod(path+"-lock", database.Mode().Perm()); errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
