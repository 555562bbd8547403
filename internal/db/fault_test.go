package db_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
)

// Faults reports rows with a broken foreign key, and an index that differs from its table.
func TestTheFaultsOfAFileAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		statements []string
		want       string // the expected error; "" for a file without errors
	}{
		"sound":  {[]string{"INSERT INTO parent VALUES ('a')", "INSERT INTO child VALUES ('a')"}, ""},
		"orphan": {[]string{"INSERT INTO child VALUES ('nobody')"}, "a row of child belongs to a row that is not there"},
		"index": {[]string{
			"CREATE TABLE two (a TEXT, b TEXT)", "CREATE INDEX by_a ON two (a)", "INSERT INTO two VALUES ('x', 'y')",
			"PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE INDEX by_a ON two (b)' WHERE name = 'by_a'",
		}, "missing from index by_a"},
	} {
		path := filepath.Join(t.TempDir(), "kobo.db")
		file, err := sql.Open("sqlite", path) // without foreign keys, like another program that opens the file
		if err != nil {
			t.Fatal(err)
		}
		file.SetMaxOpenConns(1)
		for _, s := range append([]string{"CREATE TABLE parent (id TEXT PRIMARY KEY)", "CREATE TABLE child (id TEXT REFERENCES parent (id))"}, c.statements...) {
			if _, err := file.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %s: %v", name, s, err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := db.Inspect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		wrongs, err := d.Faults(t.Context())
		d.Close()
		if told := strings.Join(wrongs, "; "); err != nil || c.want == "" && told != "" || !strings.Contains(told, c.want) {
			t.Errorf("%s: %q, %v", name, told, err)
		}
	}
}
