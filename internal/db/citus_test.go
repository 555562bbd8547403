package db_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// asked returns the first column of the rows of a query at a server.
func asked(t *testing.T, url, query string, args ...any) []string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }() // ignored, because the test ends
	rows, err := c.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return list
}

// kobo migrate has divided the tables. Kobo's place of a company is the node that Citus names, on each
// node, and statements with the company's context run there.
func TestCitusHoldsACompanyAtItsPlace(t *testing.T) {
	url := dbtest.CitusURL(t)
	d := dbtest.Open(t, url)
	ctx := t.Context()
	if wrong, err := d.Misplaced(ctx); err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
	places := map[string]bool{}
	for i := range 40 {
		company := fmt.Sprint("company", strings.Repeat("x", i), i)
		want := asked(t, url, `SELECT n.nodename || ':' || n.nodeport FROM pg_dist_placement AS p JOIN pg_dist_node AS n ON n.groupid = p.groupid
			WHERE p.shardid = get_shard_id_for_distribution_column('ledger_head', $1::text)`, company)
		got := d.Place(company)
		if places[got] = true; got != want[0] {
			t.Errorf("%s is at %q, not at %q", company, got, want[0])
		}
		port, err := db.One(d.At(ctx, company), d, db.Value[string], "SELECT inet_server_port()::text")
		if err != nil || !strings.HasSuffix(got, ":"+port) {
			t.Errorf("%s: a query ran at %s: %v", got, port, err)
		}
	}
	if len(places) < 2 {
		t.Errorf("only %v", places)
	}
	if !d.Routed() {
		t.Error("not routed")
	}
}

// A program whose configuration does not allow a Citus works with none.
func TestCitusIsRefusedWithoutTheSetting(t *testing.T) {
	d, err := db.OpenWith(t.Context(), dbtest.CitusURL(t), db.Pools{Undivided: true})
	if err == nil {
		defer d.Close()
		err = d.Fits(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "experimental_citus") {
		t.Errorf("%v", err)
	}
}

// A migration copies a table, as several have done, and makes new tables. Afterwards each table is where it
// belongs, with its rows.
func TestCitusKeepsACopiedTableDivided(t *testing.T) {
	url := dbtest.CitusURL(t)
	d := dbtest.Open(t, url)
	ctx := t.Context()
	files := fstest.MapFS{"9001_made.sql": {Data: []byte(`-- +goose Up
CREATE TABLE made_parent (company_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (company_id, id));
CREATE TABLE made_child (company_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (company_id, id),
	FOREIGN KEY (company_id, id) REFERENCES made_parent (company_id, id));
CREATE TABLE made_directory (id TEXT NOT NULL, company_id TEXT NOT NULL, PRIMARY KEY (id));
INSERT INTO made_parent VALUES ('c1', 'a'), ('c2', 'b');
INSERT INTO made_child VALUES ('c1', 'a');
-- +goose Down
DROP TABLE made_child; DROP TABLE made_parent; DROP TABLE made_directory;
`)}, "9002_copied.sql": {Data: []byte(`-- +goose Up
LOCK TABLE made_child IN ACCESS EXCLUSIVE MODE;
CREATE TABLE made_child_new (company_id TEXT NOT NULL, id TEXT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (company_id, id),
	FOREIGN KEY (company_id, id) REFERENCES made_parent (company_id, id));
INSERT INTO made_child_new (company_id, id, n) SELECT company_id, id, 7 FROM made_child;
DROP TABLE made_child;
ALTER TABLE made_child_new RENAME TO made_child;
ALTER TABLE made_parent ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX made_parent_note ON made_parent (company_id, note);
`)}}
	if err := db.MigrateDivided(ctx, d, files); err != nil {
		t.Fatal(err)
	}
	wrong, err := d.Misplaced(ctx)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
	for _, node := range dbtest.CitusNodes(t, url) {
		if got := asked(t, node, `SELECT company_id || id || n FROM made_child`); fmt.Sprint(got) != "[c1a7]" {
			t.Errorf("%s has %v", node, got)
		}
		if got := asked(t, node, `SELECT max(version_id)::text FROM goose_db_version`); fmt.Sprint(got) != "[9002]" {
			t.Errorf("%s has the schema %v", node, got)
		}
	}
}

// A table that lies on one node only is found, no program starts beside it, and kobo migrate divides it. A
// worker does not change the schema.
func TestCitusFindsALocalTable(t *testing.T) {
	url := dbtest.CitusURL(t)
	d := dbtest.Open(t, url)
	ctx := t.Context()
	if err := d.Fits(ctx); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE local_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (company_id, id))`,
		`INSERT INTO local_thing VALUES ('c1', 'a')`,
	} {
		if _, err := d.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if wrong, err := d.Misplaced(ctx); err != nil || fmt.Sprint(wrong) != "[local_thing is on one node only]" {
		t.Errorf("%v %v", wrong, err)
	}
	if err := d.Fits(ctx); err == nil || !strings.Contains(err.Error(), "local_thing is on one node only") {
		t.Errorf("a program starts: %v", err)
	}
	if err := d.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	if wrong, err := d.Misplaced(ctx); err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
	worker := dbtest.Open(t, dbtest.CitusNodes(t, url)[1])
	if err := worker.Migrate(ctx); err == nil || !strings.Contains(err.Error(), "coordinator") {
		t.Errorf("a worker migrates: %v", err)
	}
	if got := asked(t, dbtest.CitusNodes(t, url)[1], `SELECT id FROM local_thing`); fmt.Sprint(got) != "[a]" {
		t.Errorf("a worker has %v", got)
	}
}

// The hash is that of PostgreSQL, for texts of each length.
func TestHashOfIsPostgresHash(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	for i := range 64 {
		text := strings.Repeat("ñx7", i)[:i]
		if !utf8.ValidString(text) {
			continue
		}
		want, err := db.One(t.Context(), d, db.Value[int64], `SELECT hashtext($1)::bigint`, text)
		if err != nil || int64(db.HashOf(text)) != want {
			t.Errorf("%q: %d, not %d: %v", text, db.HashOf(text), want, err)
		}
	}
}
