package dbtest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// NeedDump skips a test that cannot dump the database at this URL, because it is on a Citus.
func NeedDump(t testing.TB, url string) {
	t.Helper()
	if onCitus(url) {
		t.Skip("NOT RUN on Citus: a dump of the coordinator has no rows of companies")
	}
}

// Dump writes a PostgreSQL database into a file with pg_dump, as an operator would. On a Citus it skips the test.
func Dump(t testing.TB, url string) (file string) {
	t.Helper()
	NeedDump(t, url)
	file = filepath.Join(t.TempDir(), "dump.sql")
	client(t, "pg_dump", "--no-owner", "--file", file, url)
	return file
}

// Load creates a new PostgreSQL database with the content of a file that Dump wrote, and returns
// its URL.
func Load(t testing.TB, file string) (url string) {
	t.Helper()
	url = EmptyURL(t, "postgres")
	client(t, "psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--single-transaction", "--file", file, url)
	return url
}

func client(t testing.TB, name string, args ...string) {
	t.Helper()
	bin, err := cluster.Binaries()
	if err != nil {
		unavailable(t, err)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("dbtest: %s: %v\n%s", name, err, out)
	}
}
