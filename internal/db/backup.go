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

// Inspect opens a SQLite file only for reading. It writes nothing into the file and creates no
// other file. No program may be writing to the file.
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

// single opens one connection to a SQLite file. Unless the mode is "rwc", the file must exist.
func single(mode, path string, pragmas ...string) (*sql.DB, error) {
	file, err := sql.Open("sqlite", fileURL(path, url.Values{"mode": {mode}, "_pragma": pragmas}))
	if err == nil {
		file.SetMaxOpenConns(1)
	}
	return file, err
}

// CopySQLite copies the SQLite database at the path from into a file at the path to. The copy shows
// the database at one instant. If the file exists already, it must be empty. Programs may continue
// to write to the database, because CopySQLite only reads it. The copy is a single file, and is
// safely on the disk when CopySQLite returns.
func CopySQLite(ctx context.Context, from, to string) error {
	// A SQLite file that no program has opened, such as a backup, has no lock file and needs none.
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
	// VACUUM INTO does not wait until the copy is on the disk, so Persist follows.
	if _, err := file.ExecContext(ctx, "VACUUM INTO $1", to); err != nil {
		return fmt.Errorf("db: cannot copy the SQLite file: %w", err)
	}
	return Persist(to)
}

// makePrivate creates an empty file that only its owner may read, whatever the umask is. If SQLite
// created the file, all users could read it. An existing file stays as it is. SQLite gives the mode
// of the database to the files that it creates next to it.
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

// Persist writes the content and the name of a file to the disk. It returns when both are safe
// there.
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

// Faults returns the errors that SQLite finds in its file. These are errors of integrity and rows
// with a broken foreign key.
func (d *DB) Faults(ctx context.Context) ([]string, error) {
	ctx = WithLongTimeout(ctx)
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

// ReplaceSQLite replaces the SQLite database at path. The parameter with is the path of the new
// database, and no program may have that file open. The parameter old is the path to which the
// replaced database is moved. At every moment, even after a crash, the path leads to one of the two
// complete databases. If there is no database at path, no file is created at old. A program that
// was waiting for a lock on the replaced file gets an error from SQLite and writes nothing into it.
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
	// A killed program leaves a -shm file behind, which is the index of its write-ahead log. It
	// must not be used for the new database.
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(with, path); err != nil {
		return err
	}
	return persistNames(filepath.Dir(path))
}

// UnusedSQLite returns ErrInUse if a program has the database open, and otherwise nil.
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

// place renames a file to path. It returns an error if path exists, or if a leftover write-ahead
// log is next to path.
func place(path, with string) error {
	for _, rest := range []string{"-wal", "-journal"} {
		if _, err := os.Stat(path + rest); err == nil {
			return fmt.Errorf("db: %s%s lies there without its database, and would be taken for a part of the new one: move it away", path, rest)
		}
	}
	// Link fails if another program has just created a database at path. Rename would replace that
	// database.
	if err := os.Link(with, path); err != nil {
		return err
	}
	return errors.Join(os.Remove(with), persistNames(filepath.Dir(path)))
}

// alone opens a SQLite file that no other program has open. Other programs cannot open the file
// until it is closed. alone also moves the content of the write-ahead log into the file.
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
		// Another program may have opened the file in between and changed the journal mode back.
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
