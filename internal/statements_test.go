package internal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/db/migration"
)

// keep is an environment variable. If it is set, the test writes the program's SQL statements
// into testdata/statements:
//
//	KOBO_TEST_KEEP=1 go test -run TestTheStatementsOfThisProgramAreKept ./internal
//
// Each release adds the file for its schema. The SQL that the ledger builds for several rows at
// once is written by TestAFilledDatabaseHasEverything of internal/apptest.
const keep = "KOBO_TEST_KEEP"

var keptStatements = filepath.Join("testdata", "statements")

func TestTheStatementsOfThisProgramAreKept(t *testing.T) {
	var list []string
	for _, s := range statements(house(t), schemaOf(files(t))) {
		if ownSchema[s.dir] == "" && !s.built {
			list = append(list, "-- "+s.owner+"\n"+strings.TrimSpace(s.text)+";\n")
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) < 100 {
		t.Fatalf("%d statements: the search is broken", len(list))
	}
	if os.Getenv(keep) == "" {
		return
	}
	file := filepath.Join(keptStatements, fmt.Sprintf("%d.sql", migration.Latest()))
	if err := os.WriteFile(file, []byte(strings.Join(list, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keptOf returns the stored SQL statements of a schema for an engine.
func keptOf(t *testing.T, schema int64, dialect db.Dialect) (list []string) {
	t.Helper()
	for _, name := range []string{fmt.Sprintf("%d.sql", schema), fmt.Sprintf("%d-%s.sql", schema, dialect)} {
		text, err := os.ReadFile(filepath.Join(keptStatements, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range strings.Split(string(text), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				list = append(list, statement)
			}
		}
	}
	return list
}

// unrun returns a complaint for each SQL statement that an engine cannot prepare or run.
func unrun(t *testing.T, url string, list []string) (complaints []string) {
	t.Helper()
	run := dbtest.Trier(t, url)
	for _, statement := range list {
		if err := run(statement); err != nil {
			complaints = append(complaints, fmt.Sprintf("%v:\n%s", err, statement))
		}
	}
	return complaints
}

// During an upgrade, a program of an earlier release runs in parallel with the new program. The
// migrations declare which earlier schema they still serve. All SQL of that schema's program must
// run on the new schema.
func TestTheStatementsOfServedReleasesRun(t *testing.T) {
	kept, err := filepath.Glob(filepath.Join(keptStatements, "*.sql"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no statements are kept: %v", err)
	}
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			url := dbtest.URL(t, dialect)
			for _, name := range kept {
				schema, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".sql"), 10, 64)
				if err != nil || schema < migration.Serves(schema) {
					continue // the file is for one engine only, or its schema is no longer served
				}
				for _, complaint := range unrun(t, url, keptOf(t, schema, dialect)) {
					t.Errorf("a program of schema %d: %s", schema, complaint)
				}
			}
		})
	}
}

// After a change of the schema, the check finds SQL that no longer runs. Such SQL names a removed
// column or table, or does not fill a new column.
func TestStatementsThatDoNotRunAreFound(t *testing.T) {
	for _, dialect := range dbtest.Dialects {
		t.Run(string(dialect), func(t *testing.T) {
			for change, want := range map[string]string{
				`ALTER TABLE job RENAME COLUMN last_error TO trouble`: "last_error",
				`DROP TABLE operator_door`:                            "operator_door",
				`CREATE TABLE door_next (id BIGINT NOT NULL, reason TEXT NOT NULL, closed_at BIGINT NOT NULL, by_whom TEXT NOT NULL, PRIMARY KEY (id));
				 DROP TABLE operator_door; ALTER TABLE door_next RENAME TO operator_door`: "by_whom",
			} {
				url := dbtest.URL(t, dialect)
				d := dbtest.Open(t, url)
				for part := range strings.SplitSeq(change, ";") {
					if _, err := d.Exec(t.Context(), part); err != nil {
						t.Fatal(err)
					}
				}
				if found := strings.Join(unrun(t, url, keptOf(t, 32, dialect)), "\n"); !strings.Contains(found, want) {
					t.Errorf("%s: found %q", change, found)
				}
			}
		})
	}
}
