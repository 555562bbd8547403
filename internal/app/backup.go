package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/report"
)

// Copying configures one backup or one restore.
type Copying struct {
	Database  string // URL of the program's database
	Mode      Mode   // a restore refuses databases of a different environment
	File      string // path of the backup file
	Overwrite bool   // a backup may replace an existing file
	Quick     bool   // skips the check of the ledger
	By        operator.Operator
	// Signer signs the audit line of a restore, and checks the signatures in the copy. A backup
	// without it does not check them.
	Signer db.Signer

	// Step, if set, is called after each step of the copying. Tests use it to kill the program at a
	// chosen step.
	Step func(what string)
}

func (c Copying) step(what string) {
	if c.Step != nil {
		c.Step(what)
	}
}

// Holding summarizes the contents of a backup.
type Holding struct {
	Schema int64
	// Environment is that of the database, or "" if no program has served with it.
	Environment deployment.Environment
	Bytes       int64
	Heads       []report.Head
	// Added reports whether the ledger was checked. Entries and Open are set only if it was.
	Added   bool
	Entries int64
	Open    int // operations without an outcome
}

// errNotSQLite is the error for a PostgreSQL database. It names the tools that copy such a
// database.
var errNotSQLite = errors.New("backup and restore are for SQLite; PostgreSQL brings its own: pg_dump and psql, or pg_basebackup with " +
	"point-in-time recovery (docs/operating.md). After a restore run: kobo door close")

// Backup writes the database's state at one moment to a file, and checks that file. Programs may
// continue to serve during the backup. The file appears under its name only when it is complete.
func Backup(ctx context.Context, c Copying) (Holding, error) {
	from, ok := db.SQLitePath(c.Database)
	if !ok {
		return Holding{}, errNotSQLite
	}
	if _, err := os.Stat(c.File); err == nil && !c.Overwrite {
		return Holding{}, fmt.Errorf("%s is there already (--force overwrites it)", c.File)
	}
	if err := checkApart(from, c.File); err != nil {
		return Holding{}, fmt.Errorf("there is no database: %w", err)
	}
	draft, err := draftOf(ctx, from, c.File)
	if err != nil {
		return Holding{}, err
	}
	defer func() { _ = os.Remove(draft) }() // removes the draft, or nothing if the draft has been renamed
	c.step("copied")
	held, err := c.look(ctx, draft)
	if err != nil {
		return held, err
	}
	c.step("checked")
	if c.Overwrite {
		err = os.Rename(draft, c.File)
	} else {
		err = os.Link(draft, c.File) // fails if the file has been created in the meantime
	}
	if err == nil {
		err = db.Persist(c.File)
	}
	return held, err
}

// checkApart checks that the first file exists, and that the second path does not name the same
// file.
func checkApart(from, to string) error {
	a, err := os.Stat(from)
	if err != nil {
		return err
	}
	if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
		return errors.New("the backup and the database are one file")
	}
	return nil
}

// draftOf copies a SQLite file into the folder of the destination. It returns the path of the copy.
func draftOf(ctx context.Context, from, place string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(place), filepath.Base(place)+".partial-*")
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return "", err
	}
	if err := db.CopySQLite(ctx, from, f.Name()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// look checks that a copy is a Kobo database of a known schema, that no page is damaged, and
// that the ledger balances. It checks the ledger only if the copy has this program's schema.
func (c Copying) look(ctx context.Context, path string) (held Holding, err error) {
	d, err := db.Inspect(ctx, path)
	if err != nil {
		return held, err
	}
	defer d.Close()
	d.SignWith(c.Signer)
	r := report.New(d, clock.System{})
	if held.Heads, err = r.Heads(ctx); err != nil {
		return held, fmt.Errorf("it is not a Kobo database: %w", err)
	}
	have, want, err := d.Migrated(ctx)
	if err != nil {
		return held, err
	}
	if held.Schema = have; have > want {
		if err := d.Fits(ctx); err != nil {
			return held, err
		}
	}
	if held.Environment, err = deployment.EnvironmentOf(ctx, d); err != nil {
		return held, err
	}
	wrongs, err := d.Faults(ctx)
	if err != nil {
		return held, err
	}
	if len(wrongs) > 0 {
		return held, fmt.Errorf("the file is damaged: %s (%d faults)", wrongs[0], len(wrongs))
	}
	if at, err := os.Stat(path); err == nil {
		held.Bytes = at.Size()
	}
	if c.Quick || have < want {
		return held, nil
	}
	return held, held.add(ctx, r)
}

// add checks the ledger of every company, and counts entries and open operations.
func (h *Holding) add(ctx context.Context, r *report.Service) error {
	companies, err := r.Companies(ctx)
	if err != nil {
		return err
	}
	for _, company := range companies {
		found, err := r.Verify(ctx, company)
		if err != nil {
			return err
		}
		if !found.Sound() {
			return fmt.Errorf("the ledger does not add up: %s (kobo verify says more, --quick goes on without)", found.Lines()[0])
		}
		h.Entries += found.Entries
		h.Open += found.InFlight.Operations
	}
	log, err := r.VerifyLog(ctx)
	if err == nil && !log.Sound() {
		err = fmt.Errorf("the audit log was altered: %s (kobo verify says more, --quick goes on without)", log.Lines()[0])
	}
	h.Added = err == nil
	return err
}

// Restore replaces the database with a backup, migrates its schema, and closes API access. No
// program may use the database meanwhile. Restore keeps the earlier database next to the new
// one, and returns the name of that file.
func Restore(ctx context.Context, c Copying) (held Holding, kept string, err error) {
	path, ok := db.SQLitePath(c.Database)
	if !ok {
		return held, "", errNotSQLite
	}
	if err := checkApart(c.File, path); err != nil {
		return held, "", fmt.Errorf("there is no backup: %w", err)
	}
	if err := db.UnusedSQLite(ctx, path); err != nil {
		return held, "", err
	}
	if err := c.matchReplaced(ctx, path); err != nil {
		return held, "", err
	}
	draft, err := draftOf(ctx, c.File, path)
	if err != nil {
		return held, "", err
	}
	// On success the draft is the new database, so only the lock file is removed.
	defer func() { _, _ = os.Remove(draft), os.Remove(draft+"-lock") }()
	c.step("copied")
	// The draft is checked before the code below opens it for writing.
	quick := c
	quick.Quick = true
	if _, err := quick.look(ctx, draft); err != nil {
		return held, "", err
	}
	if err := c.prepare(ctx, draft); err != nil {
		return held, "", err
	}
	if held, err = c.look(ctx, draft); err != nil {
		return held, "", err
	}
	c.step("prepared")
	mode := fs.FileMode(0o600)
	if at, err := os.Stat(path); err == nil {
		mode, kept = at.Mode().Perm(), path+".before-"+time.Now().UTC().Format("20060102T150405.000Z")
	}
	if err := errors.Join(os.Chmod(draft, mode), db.Persist(draft)); err != nil {
		return held, "", err
	}
	if err := db.ReplaceSQLite(ctx, path, draft, kept); err != nil {
		return held, "", err
	}
	c.step("replaced")
	return held, kept, nil
}

// config returns the settings that decide about the environment.
func (c Copying) config() Config { return Config{Mode: c.Mode} }

// matchReplaced refuses to replace a database of a different environment. A missing or damaged
// database may be replaced.
func (c Copying) matchReplaced(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d, err := db.Inspect(ctx, path)
	if err != nil {
		return nil //nolint:nilerr // a database that cannot be opened needs the restore
	}
	defer d.Close()
	var other *deployment.OtherError
	if err := c.config().CheckEnvironment(ctx, d); errors.As(err, &other) {
		return err
	}
	return nil
}

// prepare migrates the schema of a copy, and holds moves and closes API access in the copy. So API access
// is already closed when the copy replaces the database.
func (c Copying) prepare(ctx context.Context, draft string) error {
	d, err := db.Open(ctx, "sqlite:"+draft)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Migrate(ctx); err != nil {
		return err
	}
	if err := c.config().CheckEnvironment(ctx, d); err != nil {
		return fmt.Errorf("the backup: %w", err)
	}
	d.SignWith(c.Signer)
	o := operator.New(d, nil, clock.System{})
	if err := HoldMoves(ctx, d, o, c.By, "restored from a backup"); err != nil {
		return err
	}
	return o.CloseRestored(ctx, c.By, "restored from a backup: see docs/operating.md before opening it")
}

// HoldMoves holds the moves of purchases to further billers in a database that no program serves. If no
// program has served it yet, HoldMoves gives the database its name first.
func HoldMoves(ctx context.Context, d *db.DB, o *operator.Service, by operator.Operator, reason string) error {
	if _, err := deployment.New(d, clock.System{}, slog.New(slog.DiscardHandler), "").Name(ctx); err != nil {
		return err
	}
	return d.Tx(ctx, func(q db.Querier) error { return o.HoldMoves(ctx, q, by, true, reason) })
}
