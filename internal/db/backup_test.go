package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// head inserts a row that a test later looks for.
const head = "INSERT INTO ledger_head (company_id, event_sequence, dated_at) VALUES ($1, $2, 0)"

// lines returns the companies for which head has inserted a row into a SQLite file.
func lines(t *testing.T, path string) map[string]bool {
	t.Helper()
	d, err := db.Inspect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if wrongs, err := d.Faults(t.Context()); err != nil || len(wrongs) > 0 {
		t.Fatalf("%s: %v %v", path, wrongs, err)
	}
	all, err := db.All(t.Context(), d, db.Value[string], "SELECT company_id FROM ledger_head")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, one := range all {
		out[one] = true
	}
	return out
}

// A copy that is made while a program writes contains all rows that were committed before the copy
// began. The copy is a complete, separate file.
func TestACopyIsOfOneInstant(t *testing.T) {
	url := dbtest.URL(t, db.SQLite)
	path, _ := db.SQLitePath(url)
	d := dbtest.Open(t, url)
	written, done := make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			// One transaction inserts both rows. A copy with only one of them would show a part of
			// the transaction.
			err := d.Tx(context.Background(), func(q db.Querier) error {
				_, err := q.Exec(context.Background(), head, fmt.Sprint(i), 0)
				if err == nil {
					_, err = q.Exec(context.Background(), head, fmt.Sprint("twin-", i), 0)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if _, more := <-written; !more {
				return
			}
		}
	}()
	for round := range 20 {
		for range 10 {
			written <- 0
		}
		acknowledged := 10 * (round + 1)
		to := filepath.Join(t.TempDir(), "copy")
		if err := db.CopySQLite(t.Context(), path, to); err != nil {
			t.Fatal(err)
		}
		found := lines(t, to)
		for i := range acknowledged {
			if !found[fmt.Sprint(i)] {
				t.Errorf("round %d: %d was acknowledged and is not in the copy", round, i)
			}
		}
		if len(found)%2 != 0 {
			t.Errorf("round %d: %d rows: half a transaction", round, len(found))
		}
	}
	close(written)
	<-done
}

func TestACopyOfWhatIsNoDatabase(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("this is no database, however long it may be"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{text, filepath.Join(dir, "missing")} {
		if err := db.CopySQLite(t.Context(), from, filepath.Join(dir, "to")); err == nil {
			t.Errorf("%s was copied", from)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
		t.Error("the missing file was made")
	}
}

func TestADatabaseInUseIsNotReplaced(t *testing.T) {
	url, dir := dbtest.URL(t, db.SQLite), t.TempDir()
	path, _ := db.SQLitePath(url)
	d := dbtest.Open(t, url)
	with, old := filepath.Join(dir, "with"), filepath.Join(dir, "old")
	if err := db.CopySQLite(t.Context(), path, with); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), head, "later", 0); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := db.ReplaceSQLite(t.Context(), path, with, old); !errors.Is(err, db.ErrInUse) {
			t.Fatalf("replaced under a program: %v", err)
		}
	}
	d.Close()
	if err := db.ReplaceSQLite(t.Context(), path, with, old); err != nil {
		t.Fatal(err)
	}
	if now, before := lines(t, path), lines(t, old); now["later"] || !before["later"] {
		t.Errorf("now %v, before %v", now, before)
	}
}

// A leftover write-ahead log would become part of the new database, so ReplaceSQLite refuses to put
// a database next to it.
func TestAStrayLogIsNotAdopted(t *testing.T) {
	from, _ := db.SQLitePath(dbtest.URL(t, db.SQLite))
	dir := t.TempDir()
	path, with := filepath.Join(dir, "kobo.db"), filepath.Join(dir, "with")
	if err := db.CopySQLite(t.Context(), from, with); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", []byte("of another database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.ReplaceSQLite(t.Context(), path, with, ""); err == nil {
		t.Fatal("put beside a stray log")
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := db.ReplaceSQLite(t.Context(), path, with, ""); err != nil {
		t.Fatal(err)
	}
	lines(t, path)
}

// Programs open and close the database while the test replaces its file. No program continues to
// write to a replaced file. So every committed row is in the present database or in one of the
// replaced databases, which the test keeps.
func TestNobodyWritesIntoAFileThatWasReplaced(t *testing.T) {
	url, dir := dbtest.URL(t, db.SQLite), t.TempDir()
	path, _ := db.SQLitePath(url)
	var mu sync.Mutex
	turn := make(chan struct{}, 1) // pauses the writers, so that the file can be replaced
	acknowledged := map[string]bool{}
	rounds, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; rounds.Err() == nil; i++ {
				<-turn
				d, err := db.Open(t.Context(), url)
				if err != nil {
					continue // the file is being replaced
				}
				row := fmt.Sprint(w, "-", i)
				if _, err := d.Exec(t.Context(), head, row, 0); err == nil {
					mu.Lock()
					acknowledged[row] = true
					mu.Unlock()
				}
				d.Close()
			}
		})
	}
	kept := []string{path}
	for i := 0; len(kept) < 15; i++ {
		turn <- struct{}{}
		with, old := filepath.Join(dir, fmt.Sprint("with-", i)), filepath.Join(dir, fmt.Sprint("old-", i))
		err := db.CopySQLite(t.Context(), path, with)
		if err == nil {
			err = db.ReplaceSQLite(t.Context(), path, with, old)
		}
		if err == nil {
			kept = append(kept, old)
		}
	}
	cancel()
	close(turn)
	writers.Wait()
	found := map[string]bool{}
	for _, file := range kept {
		for row := range lines(t, file) {
			found[row] = true
		}
	}
	for row := range acknowledged {
		if !found[row] {
			t.Errorf("%s was acknowledged and is nowhere", row)
		}
	}
	if len(acknowledged) == 0 {
		t.Error("nobody could write")
	}
}

// A program that was waiting for a lock on the old file gets an error when the file is replaced.
func TestWhoeverWaitsAtTheOldFileIsSentAway(t *testing.T) {
	url, dir := dbtest.URL(t, db.SQLite), t.TempDir()
	path, _ := db.SQLitePath(url)
	with := filepath.Join(dir, "with")
	if err := db.CopySQLite(t.Context(), path, with); err != nil {
		t.Fatal(err)
	}
	hold, err := db.Alone(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		d, err := db.Open(context.Background(), url)
		if err == nil {
			d.Close()
		}
		opened <- err
	}()
	// While the SQLite engine waits for a lock, it has the old file open.
	for stacks := make([]byte, 1<<20); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "sqliteDefaultBusyCallback"); {
		runtime.Gosched()
	}
	if err := errors.Join(os.Rename(with, path), hold.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err == nil {
		t.Error("it went on with the file that was")
	}
	dbtest.Open(t, url)
}
