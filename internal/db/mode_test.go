package db_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// openly sets a umask under which all users can read new files.
func openly(t *testing.T) {
	before := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(before) })
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Error(err)
	} else if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the mode %o, want %o", path, got, want)
	}
}

// Only the owner can read a new SQLite file and the files that SQLite creates next to it.
func TestSQLiteFilesAreForTheirOwner(t *testing.T) {
	openly(t)
	dir := t.TempDir()
	path, copied, old := filepath.Join(dir, "kobo.db"), filepath.Join(dir, "copy"), filepath.Join(dir, "old")
	d := dbtest.Open(t, "sqlite:"+path)
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		wantMode(t, path+suffix, 0o600)
	}
	if err := db.CopySQLite(t.Context(), path, copied); err != nil {
		t.Fatal(err)
	}
	wantMode(t, copied, 0o600)
	d.Close()
	if err := db.ReplaceSQLite(t.Context(), path, copied, old); err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, 0o600)
	wantMode(t, old, 0o600)
}

// An existing database keeps its mode, and the files next to it get the same mode.
func TestASharedSQLiteFileStaysShared(t *testing.T) {
	openly(t)
	path := filepath.Join(t.TempDir(), "kobo.db")
	d := dbtest.Open(t, "sqlite:"+path)
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	d = dbtest.Open(t, "sqlite:"+path)
	if _, err := d.Exec(t.Context(), head, "c1", 0); err != nil {
		t.Fatal(err)
	}
	wantMode(t, path, 0o660)
	wantMode(t, path+"-wal", 0o660)
	wantMode(t, path+"-lock", 0o660)
}
