package apptest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// forbidden are SQL statements that a stolen password of the serving role must not make possible.
var forbidden = []string{
	`UPDATE ledger_entry SET amount_kobo = 1`, `DELETE FROM ledger_entry`, `TRUNCATE ledger_entry`,
	`UPDATE ledger_transfer SET amount_kobo = 1`, `DELETE FROM ledger_transfer`, `TRUNCATE ledger_transfer`,
	`UPDATE event SET data = ''`, `DELETE FROM event`, `TRUNCATE event`,
	`UPDATE operator_audit SET details = ''`, `DELETE FROM operator_audit`, `TRUNCATE operator_audit`,
	`INSERT INTO archive_month (company_id, month, first_sequence, last_sequence, hash, archived_at) VALUES ('c', '2030-01', 1, 1, '', 1)`,
	`UPDATE db_schema SET serves = 1`, `DELETE FROM goose_db_version`,
	`CREATE TABLE mine (id TEXT)`, `DROP TABLE ledger_entry`, `ALTER TABLE ledger_entry ADD COLUMN more TEXT`,
	`CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
	`SELECT pg_read_file('/etc/passwd')`,
}

// A serving role that may not change an event leaves the events about an erased customer to the owner.
func TestAnErasureWaitsForTheOwner(t *testing.T) {
	t.Parallel()
	home := apptest.NewHome(t, db.Postgres)
	owned := home.Database
	role, serving := dbtest.Role(t, owned)
	if err := dbtest.Open(t, owned).Grant(t.Context(), db.Roles{Serve: role}); err != nil {
		t.Fatal(err)
	}
	home.Database = serving
	p := home.Start(t)
	if _, err := p.App.Erasures.Erase(t.Context(), tester, zubaidahOf(t, p).id); err != nil {
		t.Fatal(err)
	}
	settled(t, p)
	found := where(t, dbtest.Open(t, owned))
	if len(found) == 0 || slices.ContainsFunc(found, func(one string) bool { return !strings.HasPrefix(one, "event: ") }) {
		t.Errorf("before the owner's work: %v", found)
	}
	p.Stop()
	home.Database = owned
	p = home.Start(t)
	if n, err := p.App.Erasures.Finish(t.Context()); n != 1 || err != nil {
		t.Errorf("%d erasures completed, %v", n, err)
	}
	if found := where(t, p.App.DB); len(found) > 0 {
		t.Errorf("after the owner's work: %v", found)
	}
	if wrongs := faultsOf(t, p); wrongs != "" {
		t.Errorf("verify: %s", wrongs)
	}
}

// The whole way of the money works with the role of kobo serve, and this role cannot change what is
// written once.
func TestTheServingRoleSellsAndCannotRewrite(t *testing.T) {
	t.Parallel()
	home := apptest.NewHome(t, db.Postgres)
	owner := dbtest.Open(t, home.Database)
	role, serving := dbtest.Role(t, home.Database)
	reader, reading := dbtest.Role(t, home.Database)
	if err := owner.Grant(t.Context(), db.Roles{Serve: role, Read: reader}); err != nil {
		t.Fatal(err)
	}
	home.Database = serving
	p := home.Start(t)
	p.Buy(p.Order(p.Bundle(), "role-1", "10")).Want(t, http.StatusOK)
	p.Buy(p.Order(p.Bundle(), "role-2", "01")) // a refusal, which moves the money back
	if missing, excessive, err := p.App.DB.Rights(t.Context()); err != nil || len(missing)+len(excessive) > 0 {
		t.Errorf("missing %v, excessive %v, %v", missing, excessive, err)
	}
	d := dbtest.Open(t, serving)
	statements := slices.Clone(forbidden)
	for _, table := range db.WrittenOnce {
		statements = append(statements, "UPDATE "+table+" SET company_id = ''", "DELETE FROM "+table, "TRUNCATE "+table)
	}
	for table := range db.Narrow {
		statements = append(statements, "UPDATE "+table+" SET company_id = ''", "DELETE FROM "+table, "TRUNCATE "+table)
	}
	for _, statement := range statements {
		if _, err := d.Exec(t.Context(), statement); !refusedRight(err) {
			t.Errorf("the serving role: %s: %v", statement, err)
		}
	}
	// PostgreSQL answers this with a warning only. The loops below show that it has no effect.
	if _, err := d.Exec(t.Context(), `GRANT ALL ON ledger_entry, event TO PUBLIC`); err != nil && !refusedRight(err) {
		t.Error(err)
	}
	read := dbtest.Open(t, reading)
	if n, err := db.One(t.Context(), read, db.Value[int64], `SELECT count(amount_kobo) FROM ledger_entry`); err != nil || n == 0 {
		t.Errorf("the reading role reads %d entries, %v", n, err)
	}
	for table, columns := range db.Confidential {
		for _, column := range columns {
			if _, err := db.All(t.Context(), read, db.Value[string], `SELECT `+column+`::text FROM `+table); !refusedRight(err) {
				t.Errorf("the reading role reads %s.%s: %v", table, column, err)
			}
		}
	}
	for _, statement := range append(forbidden, `INSERT INTO company_pin (company_id) VALUES ('c')`, `UPDATE company SET name = ''`) {
		if _, err := read.Exec(t.Context(), statement); !refusedRight(err) {
			t.Errorf("the reading role: %s: %v", statement, err)
		}
	}
}

// refusedRight reports whether PostgreSQL refused an SQL statement for lack of a right.
func refusedRight(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "permission denied") || strings.Contains(err.Error(), "must be owner"))
}

// Grant refuses a role that could still change the history. A program refuses to serve without its
// rights.
func TestRightsAreChecked(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, db.Postgres)
	owner := dbtest.Open(t, url)
	role, serving := dbtest.Role(t, url)
	exec := func(statement string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string, r db.Roles) {
		t.Helper()
		if err := owner.Grant(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
	refused("must differ", db.Roles{Serve: role, Read: role})
	refused("does not exist", db.Roles{Serve: "no such role"})
	exec(`GRANT UPDATE ON event TO PUBLIC`)
	refused("still has one of the rights", db.Roles{Serve: role})
	exec(`REVOKE UPDATE ON event FROM PUBLIC`)
	exec(`GRANT UPDATE (amount_kobo) ON ledger_transfer TO PUBLIC`)
	refused("still has one of the rights", db.Roles{Serve: role})
	refused("still has one of the rights", db.Roles{Read: role})
	exec(`REVOKE UPDATE (amount_kobo) ON ledger_transfer FROM PUBLIC`)
	exec(`GRANT SELECT (hash) ON company_api_key TO PUBLIC`)
	refused("can still read company_api_key.hash", db.Roles{Read: role})
	exec(`REVOKE SELECT (hash) ON company_api_key FROM PUBLIC`)
	exec(`GRANT CREATE ON SCHEMA public TO ` + role)
	refused("may create tables", db.Roles{Read: role})
	exec(`REVOKE CREATE ON SCHEMA public FROM ` + role)
	d := dbtest.Open(t, serving)
	if missing, _, err := d.Rights(t.Context()); err != nil || len(missing) < 50 {
		t.Errorf("a refused grant left rights: only %d tables are missing, %v", len(missing), err)
	}
	if err := owner.Grant(t.Context(), db.Roles{Serve: role}); err != nil {
		t.Fatal(err)
	}
	exec(`CREATE TABLE later (id TEXT NOT NULL PRIMARY KEY)`)
	if missing, _, err := d.Rights(t.Context()); err != nil || len(missing) != 1 || missing[0] != "later" {
		t.Errorf("missing %v, %v", missing, err)
	}
	if _, excessive, err := owner.Rights(t.Context()); err != nil || len(excessive) != len(db.WrittenOnce)+len(db.Narrow) {
		t.Errorf("the owner: %v, %v", excessive, err)
	}
	if err := dbtest.New(t, db.SQLite).Grant(t.Context(), db.Roles{Serve: role}); err == nil {
		t.Error("SQLite has no roles")
	}
}
