package db_test

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/db/migration"
)

// named opens a connection that has the application name of a different program.
func named(t *testing.T, at, name string) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(at)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["application_name"] = name
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// at returns a PostgreSQL database with an older schema.
func at(t *testing.T, schema int64) (d *db.DB, url string) {
	t.Helper()
	url = dbtest.EmptyURL(t, db.Postgres)
	d = dbtest.Open(t, url)
	if err := db.MigrateTo(t.Context(), d, schema); err != nil {
		t.Fatal(err)
	}
	return d, url
}

// aCase inserts a row into operation_case, in the form that a program of schema 26 used.
const aCase = `INSERT INTO operation_case (company_id, id, subject, reason, detail, state, outcome, note, target_company, target_settlement,
	proposed_by, resolved_by, proposed_at, created_at, updated_at)
	VALUES ('c', 'late', 's', 'UNRESOLVED', '', 'OPEN', '', '', '', 0, '', '', 0, 1, 1)`

// waiting is a query for the transactions that wait for a lock. It returns the time when the latest
// of them began, or "".
const waiting = `SELECT coalesce(max(xact_start)::text, '') FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

// waits blocks until a transaction waits for a lock, and returns the time when this transaction
// began. It ignores the transaction that began at the time but.
func waits(t *testing.T, d *db.DB, but string) (since string) {
	t.Helper()
	for t.Context().Err() == nil {
		var err error
		if since, err = db.One(t.Context(), d, db.Value[string], waiting); err != nil {
			t.Fatal(err)
		}
		if since != "" && since != but {
			return since
		}
	}
	return ""
}

// If a program commits a row while a migration waits for the row's table, the migration also copies
// this row into the new table.
func TestAMigrationKeepsWhatIsCommittedMeanwhile(t *testing.T) {
	t.Parallel()
	d, url := at(t, 26)
	other := named(t, url, "psql")
	tx, err := other.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), aCase)
	}
	if err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() { migrated <- db.MigrateTo(t.Context(), d, 27) }()
	waits(t, dbtest.Open(t, url), "")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	if n, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM operation_case WHERE id = 'late'`); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A migration waits for a lock in several short tries, so that other programs can work between
// them. After its last try it fails.
func TestAMigrationLetsOthersWorkWhileItWaits(t *testing.T) {
	t.Parallel()
	d, url := at(t, 26)
	holder := named(t, url, "psql")
	tx, err := holder.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), aCase)
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Impatient(d, 20*time.Millisecond, 3)
	err = d.Migrate(t.Context())
	if err == nil || !strings.Contains(err.Error(), "a lock was not granted in 3 tries of 20ms: end what holds a transaction open") {
		t.Fatalf("a table that is held: %v", err)
	}
	db.Impatient(d, 200*time.Millisecond, 1000)
	migrated := make(chan error, 1)
	go func() { migrated <- d.Migrate(t.Context()) }()
	look := dbtest.Open(t, url)
	waits(t, look, waits(t, look, "")) // waits for the second try
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	if have, want, err := d.Migrated(t.Context()); err != nil || have != want {
		t.Errorf("schema %d of %d, %v", have, want, err)
	}
}

// A migration is refused while a program that would not run on the new schema is connected. The
// error names the program, and nothing changes.
func TestAMigrationIsRefusedBesideAProgramThatItDoesNotServe(t *testing.T) {
	t.Parallel()
	d, url := at(t, 26)
	for _, name := range []string{"psql", "kobold", fmt.Sprint("kobo/9/", migration.Latest())} {
		named(t, url, name)
	}
	for _, name := range []string{"kobo/1.2.3/26", "kobo", "kobo/1.2.3", "kobo/1.2.3/", ""} {
		other := named(t, url, name)
		err := d.Migrate(t.Context())
		if err == nil {
			t.Fatalf("migrated beside %q", name)
		}
		text, pid := err.Error(), fmt.Sprintf("pid %d: ", other.PgConn().PID())
		if !strings.Contains(text, pid+name) || !strings.Contains(text, " since 2") || strings.Contains(text, "psql") || strings.Contains(text, "kobo/9/") {
			t.Errorf("beside %q: %v", name, err)
		}
		if have, _, err := d.Migrated(t.Context()); err != nil || have != 26 {
			t.Errorf("schema %d, %v", have, err)
		}
	}
	if err := d.ForceMigrate(t.Context()); err != nil {
		t.Errorf("forced: %v", err)
	}
	if err := d.Migrate(t.Context()); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}

// A schema can be outgrown only while no older program is connected. After that, no older program can
// start.
func TestASchemaIsOutgrownWithoutOlderPrograms(t *testing.T) {
	t.Parallel()
	d, url := at(t, migration.Latest())
	newer := migration.Latest() - 1
	named(t, url, fmt.Sprint("kobo/9/", newer))
	other := named(t, url, fmt.Sprint("kobo/8/", newer-1))
	if err := d.Outgrow(t.Context(), newer); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("pid %d: ", other.PgConn().PID())) || strings.Contains(err.Error(), "kobo/9/") {
		t.Errorf("beside an older program: %v", err)
	}
	serves := func() int64 {
		n, err := db.One(t.Context(), d, db.Value[int64], `SELECT serves FROM db_schema`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := serves(); n >= newer {
		t.Errorf("refused, and only programs from schema %d on may start", n)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := func() bool { return d.Outgrow(t.Context(), newer) == nil }
	for end := time.Now().Add(10 * time.Second); !gone(); runtime.Gosched() { // the server notices the end of a connection a little later
		if time.Now().After(end) {
			t.Fatal("refused beside programs that are new enough")
		}
	}
	if n := serves(); n != newer {
		t.Errorf("programs from schema %d on may start", n)
	}
}

// A program of the previous release continues to work during the migration.
func TestAMigrationServesTheReleaseBefore(t *testing.T) {
	t.Parallel()
	d, url := at(t, 32)
	for _, name := range []string{"psql", "kobold", fmt.Sprint("kobo/1.2.3/", migration.Serves(32)), fmt.Sprint("kobo/9/", migration.Latest())} {
		named(t, url, name)
	}
	if err := d.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	serves, err := db.One(t.Context(), d, db.Value[int64], `SELECT serves FROM db_schema`)
	if err != nil || serves != migration.Serves(32) {
		t.Errorf("the database serves %d, %v", serves, err)
	}
}

// Each session shows the version and the schema of its program, even if the database URL sets a
// different application name.
func TestASessionSaysItsProgram(t *testing.T) {
	hidden, err := url.Parse(dbtest.URL(t, db.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	query := hidden.Query()
	query.Set("application_name", "hidden")
	hidden.RawQuery = query.Encode()
	for version, want := range map[string]string{
		"":                         "kobo/unknown/%d",
		"1.2.3":                    "kobo/1.2.3/%d",
		"development 0123/456789é": "kobo/development-0123-456789-/%d",
		strings.Repeat("v", 80):    "kobo/" + strings.Repeat("v", 63-len("kobo//")-len(strconv.FormatInt(int64(migration.Latest()), 10))) + "/%d", // 63 bytes
	} {
		db.Identify(version)
		d := dbtest.Open(t, hidden.String())
		got, err := db.One(t.Context(), d, db.Value[string], `SELECT current_setting('application_name')`)
		if want = fmt.Sprintf(want, migration.Latest()); err != nil || got != want {
			t.Errorf("%q: %q, %v", version, got, err)
		}
	}
	db.Identify("")
}

// A program can run on a newer schema only if that schema serves the program.
func TestANewerSchemaMayServeThisProgram(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		latest := migration.Latest()
		if err := d.Fits(t.Context()); err != nil {
			t.Fatal(err)
		}
		exec(t, d, `INSERT INTO goose_db_version (version_id, is_applied) SELECT version_id + 2, is_applied FROM goose_db_version WHERE version_id = $1`, latest)
		if err := d.Fits(t.Context()); err != nil {
			t.Errorf("a newer schema that serves it: %v", err)
		}
		exec(t, d, `UPDATE db_schema SET serves = $1`, latest+1)
		want := fmt.Sprintf("schema %d, which serves programs from schema %d on, and this program knows %d", latest+2, latest+1, latest)
		if err := d.Fits(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a newer schema that does not: %v", err)
		}
	})
}
