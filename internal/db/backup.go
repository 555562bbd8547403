package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// ErrInUse reports that a program has the SQLite database open.
var ErrInUse = errors.New("db: the database is in use")

// SQLitePath returns the file path in the URL of a SQLite database.
func SQLitePath(url string) (path string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// Inspect opens a SQLite file only to look at it: nothing is written into it or
// beside it, and it stays the one file that it is. Nobody may be writing to it.
func Inspect(ctx context.Context, path string) (*DB, error) {
	file, err := sql.Open("sqlite", fileURL(path, url.Values{"immutable": {"1"}, "_pragma": {"query_only(1)"}}))
	if err == nil {
		err = file.PingContext(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("db: cannot open the SQLite file: %w", err)
	}
	return &DB{dialect: SQLite, engine: &lite{write: file, read: file}}, nil
}

func fileURL(path string, parameters url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + parameters.Encode()
}

// single is one connection to a SQLite file that is there already.
func single(mode, path string, pragmas ...string) (*sql.DB, error) {
	file, err := sql.Open("sqlite", fileURL(path, url.Values{"mode": {mode}, "_pragma": pragmas}))
	if err == nil {
		file.SetMaxOpenConns(1)
	}
	return file, err
}

// CopySQLite writes into the file to, which may be there but must be empty, what
// the SQLite database at from holds at one instant. Programs may go on writing to
// it meanwhile; it is only read. The copy is one file, and is on the disk when
// CopySQLite returns.
func CopySQLite(ctx context.Context, from, to string) error {
	// A file that no program has opened, such as a backup, needs no lock file.
	if _, err := os.Stat(from + "-lock"); err == nil {
		lock, err := lockShared(ctx, from)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	}
	file, err := single("ro", from, "busy_timeout(5000)")
	if err == nil {
		err = errors.Join(vacuumInto(ctx, file, to), file.Close())
	}
	return err
}

func vacuumInto(ctx context.Context, file *sql.DB, to string) error {
	if err := makePrivate(to); err != nil {
		return fmt.Errorf("db: cannot copy the SQLite file: %w", err)
	}
	// SQLite copies without asking the disk to keep what it has.
	if _, err := file.ExecContext(ctx, "VACUUM INTO $1", to); err != nil {
		return fmt.Errorf("db: cannot copy the SQLite file: %w", err)
	}
	return Persist(to)
}

// makePrivate makes an empty file for its owner alone, whatever the umask. SQLite
// would let everybody read a file that it makes. A file that is there stays as it
// is. What SQLite makes beside a database gets the database's mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the caller's own file
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Persist returns when a file, and the name it has, are on the disk.
func Persist(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), persistNames(filepath.Dir(path)))
}

func persistNames(folder string) error {
	f, err := os.Open(folder) //nolint:gosec // the caller's own folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Faults are what SQLite itself finds wrong with its file.
func (d *DB) Faults(ctx context.Context) ([]string, error) {
	ctx = Patient(ctx)
	wrongs, err := All(ctx, d, Value[string], "PRAGMA integrity_check")
	if err != nil {
		return nil, err
	}
	if len(wrongs) == 1 && wrongs[0] == "ok" {
		wrongs = nil
	}
	orphans, err := All(ctx, d, Value[string], `SELECT DISTINCT "table" FROM pragma_foreign_key_check`)
	for _, table := range orphans {
		wrongs = append(wrongs, "a row of "+table+" belongs to a row that is not there")
	}
	return wrongs, err
}

// ReplaceSQLite puts the file with, a whole database that nobody has open, into
// the place of the SQLite database at path, and keeps what was there as the file
// old. Whoever looks sees the one or the other, at whatever line this ends.
// Without a database at path old is not made. To a program that was waiting for
// the old file SQLite says that it was moved, and writes nothing into it.
func ReplaceSQLite(ctx context.Context, path, with, old string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return place(path, with)
	}
	lock, err := lockExclusive(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	hold, err := alone(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Close()) }()
	if err := vacuumInto(ctx, hold, old); err != nil {
		return err
	}
	// A program that was killed leaves its index of the write-ahead log.
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(with, path); err != nil {
		return err
	}
	return persistNames(filepath.Dir(path))
}

// UnusedSQLite returns ErrInUse while a program has the database open.
func UnusedSQLite(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockExclusive(ctx, path)
	if err != nil {
		return err
	}
	hold, err := alone(ctx, path)
	if err == nil {
		err = hold.Close()
	}
	return errors.Join(err, lock.Close())
}

// place gives a file a name that nobody has.
func place(path, with string) error {
	for _, rest := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(path + rest); err == nil {
			return fmt.Errorf("db: %s%s lies there without its database, and would be taken for a part of the new one: move it away", path, rest)
		}
	}
	// Rename would take the place of a database that is made at this moment.
	if err := os.Link(with, path); err != nil {
		return err
	}
	return errors.Join(os.Remove(with), persistNames(filepath.Dir(path)))
}

// alone opens a SQLite file that nobody else has open, and keeps everybody out
// until it is closed. What is in its write-ahead log is in the file afterwards.
func alone(ctx context.Context, path string) (*sql.DB, error) {
	file, err := single("rw", path, "busy_timeout(1000)", "locking_mode(EXCLUSIVE)")
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	var mode string
	err = file.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	for _, statement := range []string{"BEGIN EXCLUSIVE", "COMMIT"} {
		if err == nil {
			_, err = file.ExecContext(ctx, statement)
		}
	}
	if err == nil {
		// A program that came in between has changed it back.
		err = file.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	}
	switch {
	case Classify(err) == Transient || err == nil && mode != "delete":
		return nil, errors.Join(ErrInUse, file.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("db: the SQLite file cannot be read; move it away, with its -wal and -shm: %w", err), file.Close())
	}
	return file, nil
}
