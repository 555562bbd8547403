package db_test

import (
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// SQLite waits for the disk at each COMMIT. No test that kills only the program can see a commit
// that would be lost with the power.
func TestSQLiteWaitsForTheDisk(t *testing.T) {
	d := dbtest.New(t, db.SQLite)
	const full = 2 // https://www.sqlite.org/pragma.html#pragma_synchronous
	err := d.Tx(t.Context(), func(q db.Querier) error {
		level, err := db.One(t.Context(), q, db.Value[int64], `PRAGMA synchronous`)
		if level < full {
			t.Errorf("synchronous is %d, want %d at least", level, full)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
