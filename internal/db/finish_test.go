package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// before is the last schema whose programs do not read the packed form.
const before = 162

// removed is what only programs up to that schema use.
const removed = `SELECT count(*) FROM pg_indexes WHERE indexname IN ('event_leaf', 'ledger_transfer_leaf', 'operation_provider_reference')`

// Rows are stored packed only when no program is left that cannot read them: kobo migrate --finish refuses beside
// such a program, and afterwards none starts.
func TestRowsArePackedAfterOlderPrograms(t *testing.T) {
	t.Parallel()
	d, url := at(t, before)
	older := named(t, url, fmt.Sprint("kobo/8/", before))
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := d.Fits(t.Context()); err != nil {
		t.Fatal(err)
	}
	is := func(when string, packs bool, indexes int64) {
		t.Helper()
		d := dbtest.Open(t, url) // the next start
		if err := d.Fits(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := db.One(t.Context(), d, db.Value[int64], removed)
		if err != nil || d.Packs() != packs || d.HasShortReferences() != packs || n != indexes {
			t.Errorf("%s: packs is %v, short references are %v, and %d indexes are left, %v", when, d.Packs(), d.HasShortReferences(), n, err)
		}
	}
	is("after the migration", false, 3)
	if err := d.Finish(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("pid %d: ", older.PgConn().PID())) {
		t.Errorf("beside an older program: %v", err)
	}
	is("refused", false, 3)
	if err := older.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for d.Finish(t.Context()) != nil { // the server notices the end of a connection a little later
		if t.Context().Err() != nil {
			t.Fatal("refused without an older program")
		}
	}
	is("finished", true, 0)
	if err := d.Fits(t.Context()); err != nil || d.Packs() || d.HasShortReferences() {
		t.Errorf("a running program writes the shorter forms from now on: %v, %v, %v", d.Packs(), d.HasShortReferences(), err)
	}
	if serves, err := db.One(t.Context(), d, db.Value[int64], `SELECT serves FROM db_schema`); err != nil || serves <= before {
		t.Errorf("programs from schema %d on may start, %v", serves, err)
	}
}

// No older program has seen a new database, so its rows are packed from the first one on.
func TestANewDatabaseIsFinished(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if err := d.Fits(t.Context()); err != nil || !d.Packs() || !d.HasShortReferences() {
			t.Errorf("packs is %v, short references are %v, %v", d.Packs(), d.HasShortReferences(), err)
		}
		if err := d.Finish(t.Context()); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// A database whose rows an earlier release has packed stays so. Its companies get short references after another
// kobo migrate --finish, because that release does not know them.
func TestADatabaseThatPacksHasLongReferencesUntilItIsFinishedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), `UPDATE db_schema SET serves = 190`); err != nil {
			t.Fatal(err)
		}
		if err := d.Fits(t.Context()); err != nil || !d.Packs() || d.HasShortReferences() {
			t.Errorf("packs is %v, short references are %v, %v", d.Packs(), d.HasShortReferences(), err)
		}
	})
}
