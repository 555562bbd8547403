package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pressly/goose/v3"

	"github.com/kobo-waas/kobo/internal/db/migration"
)

// Fits returns nil if this program can run on the database. The schema must be the program's
// schema, or a newer schema that declares that programs of this program's schema can run on it. On
// PostgreSQL with at least four connections, Fits does not wait for connections that other work
// uses.
func (d *DB) Fits(ctx context.Context) error {
	ctx = inLane(ctx, probing)
	have, want, err := d.Migrated(ctx)
	if err == nil {
		err = d.placed(ctx)
	}
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("the database has schema %d and this program needs %d: run kobo migrate", have, want)
	}
	serves, err := One(ctx, d, Value[int64], "SELECT serves FROM db_schema WHERE id = 1")
	if err != nil {
		return err
	}
	if serves > want {
		return fmt.Errorf("the database has schema %d, which serves programs from schema %d on, and this program knows %d: it is for a newer Kobo", have, serves, want)
	}
	d.served.CompareAndSwap(0, max(serves, 1)) // a running program does not begin to write other forms
	return nil
}

const (
	// packedSince is the first schema whose programs read packed columns (Packing).
	packedSince = 190
	// shortSince is the first schema whose programs know short references of companies (id.Cuid).
	shortSince = 202
)

// Packs reports whether this program stores columns packed. It does so from its next start on, after Finish has
// ended the service of programs that do not read the packed form.
func (d *DB) Packs() bool { return d.served.Load() >= packedSince }

// HasShortReferences reports whether new companies get short references (id.Cuid), and no long ones (id.LongCuid). They
// do from the next start on, after Finish has ended the service of programs that do not know them.
func (d *DB) HasShortReferences() bool { return d.served.Load() >= shortSince }

// finishing are the statements that remove what only programs of a schema before packedSince use.
var finishing = []string{
	"DROP INDEX IF EXISTS event_leaf",
	"DROP INDEX IF EXISTS ledger_transfer_leaf",
	"DROP INDEX IF EXISTS operation_provider_reference",
}

// Finish ends the service of programs of schemas before 202. Then it removes what only they use, and from its next
// start on, a Kobo stores rows in the shorter forms. If such a program is connected, Finish returns an error and
// changes nothing. A new database is finished by Migrate.
func (d *DB) Finish(ctx context.Context) error {
	if err := d.Outgrow(ctx, shortSince); err != nil {
		return err
	}
	return d.withProvider(ctx, true, func(_ *goose.Provider, handle *sql.DB) error {
		return d.lockTimeout().retry(ctx, func() error { return finish(ctx, handle) })
	})
}

func finish(ctx context.Context, handle *sql.DB) error {
	if _, err := handle.ExecContext(ctx, "UPDATE db_schema SET serves = $1 WHERE serves < $2", shortSince, shortSince); err != nil {
		return err
	}
	for _, statement := range finishing {
		if _, err := handle.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// version stores the version that Identify has set.
var version atomic.Value

// Identify sets the version of this program. Each later connection to PostgreSQL shows this version
// in its application name.
func Identify(v string) { version.Store(v) }

// Version returns the version that Identify has set, or "".
func Version() string {
	v, _ := version.Load().(string)
	return v
}

// nameLimit is the largest length of an application name in PostgreSQL.
const nameLimit = 63

// applicationName returns the application name for the connections of this program, in the form
// kobo/<version>/<schema>.
func applicationName() string {
	v := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '/' {
			return '-'
		}
		return r
	}, Version())
	if v == "" {
		v = "unknown"
	}
	end := "/" + strconv.FormatInt(migration.Latest(), 10)
	return "kobo/" + v[:min(len(v), nameLimit-len("kobo/")-len(end))] + end
}

// schemaOf returns the schema at the end of an application name, or 0.
func schemaOf(name string) int64 {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != "kobo" {
		return 0
	}
	schema, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return 0
	}
	return schema
}

// session is a connection to PostgreSQL, of any program.
type session struct{ pid, name, address, since string }

// sessionsSQL lists the connections that may belong to Kobo. Programs older than schema 33 have no
// application name, unless their URL sets one.
const sessionsSQL = `SELECT pid::text, application_name, coalesce(host(client_addr), 'this machine, or an address that is not shown'),
		coalesce(to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'an unknown time')
	FROM pg_stat_activity
	WHERE datname = current_database() AND pid <> pg_backend_pid() AND coalesce(backend_type, 'client backend') = 'client backend'
		AND (application_name = 'kobo' OR application_name LIKE 'kobo/%' OR (application_name = '' AND usename IS NOT NULL))
	ORDER BY backend_start, pid`

// Outgrow ends the service of programs of schemas below the given one, so that none of them starts
// again. If such a program is connected, it returns an error, and older programs may start as before. Only PostgreSQL shows
// who is connected.
func (d *DB) Outgrow(ctx context.Context, schema int64) error {
	connected := func() error {
		if d.dialect != Postgres {
			return nil
		}
		return d.unserved(ctx, schema)
	}
	if err := connected(); err != nil {
		return err
	}
	was, err := One(ctx, d, Value[int64], "SELECT serves FROM db_schema WHERE id = 1")
	if err != nil || was >= schema {
		return err
	}
	if _, err := d.Exec(ctx, "UPDATE db_schema SET serves = $1 WHERE serves = $2", schema, was); err != nil {
		return err
	}
	if err = connected(); err == nil { // again, because a program may have connected meanwhile
		return nil
	}
	_, back := d.Exec(ctx, "UPDATE db_schema SET serves = $1 WHERE serves = $2", was, schema)
	return errors.Join(err, back)
}

// unserved returns an error that names the connected programs that cannot run on the new schema.
// These are the programs with a schema older than the parameter serves.
func (d *DB) unserved(ctx context.Context, serves int64) error {
	sessions, err := All(ctx, d, Fields[session], sessionsSQL)
	var found []string
	for _, s := range sessions {
		if schemaOf(s.name) < serves {
			found = append(found, fmt.Sprintf("pid %s: %s from %s since %s", s.pid, cmp.Or(s.name, "a program without a name"), s.address, s.since))
		}
	}
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("the new schema serves programs from schema %d on, and these are connected:\n%s\nstop them first", serves, strings.Join(found, "\n"))
}

// Beside reports whether a program of an older schema than the given one is connected. Only
// PostgreSQL knows its programs. SQLite has one program, which may be this one.
func (d *DB) Beside(ctx context.Context, schema int64) (bool, error) {
	if d.dialect != Postgres {
		return false, nil
	}
	sessions, err := All(ctx, d, Fields[session], sessionsSQL)
	for _, s := range sessions {
		if have := schemaOf(s.name); have > 0 && have < schema {
			return true, err
		}
	}
	return false, err
}

// liteMigrations provides the migrations in the form that SQLite understands.
type liteMigrations struct{ embed.FS }

// Open opens a file or folder. A migration file is returned without its SQL statements for locks, fill
// factors and vacuums, which only PostgreSQL understands.
func (l liteMigrations) Open(name string) (fs.File, error) {
	file, err := l.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return changedMigration{file, bytes.NewReader(fill.ReplaceAll(lockTable.ReplaceAll(text, nil), nil))}, nil
}

// changedMigration is a migration file with another text.
type changedMigration struct {
	fs.File
	text *bytes.Reader
}

// Read reads the other text.
func (m changedMigration) Read(p []byte) (int, error) { return m.text.Read(p) }
