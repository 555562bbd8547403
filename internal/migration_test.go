package internal_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lastUndeclared is the newest migration that may lack a declaration of the schema that it serves.
const lastUndeclared = 32

// moves lists the migrations that change rows in their own transaction, with the reason why there
// are only few such rows. If there can be many rows, background jobs must change them, in batches
// that can be resumed (docs/upgrading.md).
var moves = map[string]string{
	"0033_schema.sql":       "one row",
	"0061_keyring.sql":      "a row for each master key",
	"0034_job_provider.sql": "jobs are what waits to be done, and not history",

	"0055_operator_role.sql": "the operators are few",
	"0069_environment.sql":   "one row",
}

var (
	declaresServed = regexp.MustCompile(`(?m)^-- kobo: serves (\d+)$`)
	dropsTable     = regexp.MustCompile(`(?m)^DROP TABLE (\w+)`)
	locksTables    = regexp.MustCompile(`(?m)^LOCK TABLE ([\w, ]+) IN ACCESS EXCLUSIVE MODE;$`)
	writesRows     = regexp.MustCompile(`(?m)^(UPDATE|DELETE|INSERT)\b`)
	dividesTable   = regexp.MustCompile(`(?i)\bPARTITION\s+(BY|OF)\b|\bINHERITS\b`)
	remark         = regexp.MustCompile(`(?m)--.*$`)
)

// migrations calls f for each migration. The argument text is the whole file; up and down are its
// two parts without SQL comments.
func migrations(texts map[string]string, f func(name string, number int64, text, up, down string)) {
	for name, text := range texts {
		number, err := strconv.ParseInt(path.Base(name)[:min(4, len(path.Base(name)))], 10, 64)
		if path.Ext(name) != ".sql" || err != nil {
			continue
		}
		up, down, _ := strings.Cut(text, "-- +goose Down")
		f(name, number, text, remark.ReplaceAllString(up, ""), remark.ReplaceAllString(down, ""))
	}
}

// copiedTablesAreLocked complains if a migration copies the rows of a table and drops the table
// without a lock. A row that a program commits between the copy and the drop would be lost.
func copiedTablesAreLocked(texts map[string]string) (complaints []string) {
	migrations(texts, func(name string, _ int64, _, up, down string) {
		for _, half := range []string{up, down} {
			for _, m := range dropsTable.FindAllStringSubmatch(half, -1) {
				read := regexp.MustCompile(`\b(FROM|JOIN) ` + m[1] + `\b`).FindStringIndex(half)
				if read == nil {
					continue
				}
				locked := slices.ContainsFunc(locksTables.FindAllStringSubmatch(half[:read[0]], -1), func(l []string) bool {
					return slices.Contains(strings.Split(l[1], ", "), m[1])
				})
				if !locked {
					complaints = append(complaints, lineOf(name, 0, "LOCK TABLE "+m[1]+" IN ACCESS EXCLUSIVE MODE comes before its rows are copied and it is dropped"))
				}
			}
		}
	})
	return complaints
}

// migrationsSayWhatTheyServe complains if a migration does not declare which older programs can run
// on the migrated database. The declaration names the oldest schema of such a program.
func migrationsSayWhatTheyServe(texts map[string]string) (complaints []string) {
	migrations(texts, func(name string, number int64, text, _, _ string) {
		if number <= lastUndeclared {
			return
		}
		m := declaresServed.FindStringSubmatch(text)
		if m == nil {
			complaints = append(complaints, lineOf(name, 0, "a migration says which schema it serves: -- kobo: serves N"))
		} else if serves, err := strconv.ParseInt(m[1], 10, 64); err != nil || serves > number || serves < lastUndeclared {
			complaints = append(complaints, lineOf(name, 0, fmt.Sprintf("it cannot serve %s", m[1])))
		}
	})
	return complaints
}

// longMovesAreJobs complains if a migration changes rows and is not listed in the variable moves,
// because there may be too many rows for one transaction.
func longMovesAreJobs(texts map[string]string) (complaints []string) {
	migrations(texts, func(name string, number int64, _, up, _ string) {
		if number > lastUndeclared && moves[path.Base(name)] == "" && writesRows.MatchString(up) {
			complaints = append(complaints, lineOf(name, 0, "a long move of rows is a job in batches; a short one is listed in migration_test.go with its reason"))
		}
	})
	return complaints
}

// claimsAreWhole complains if a migration divides a table into partitions. A unique constraint of such
// a table must contain the partition's key. If the key is a time, two partitions can hold the same
// claim, such as one Idempotency-Key, and money moves twice.
func claimsAreWhole(texts map[string]string) (complaints []string) {
	migrations(texts, func(name string, _ int64, _, up, _ string) {
		if dividesTable.MatchString(up) {
			complaints = append(complaints, lineOf(name, 0, "a table is not divided into partitions: its unique constraint would no longer hold over all rows"))
		}
	})
	return complaints
}

func TestMigrationsKeepTheRules(t *testing.T) {
	for _, rule := range []func(map[string]string) []string{copiedTablesAreLocked, migrationsSayWhatTheyServe, longMovesAreJobs, claimsAreWhole} {
		for _, complaint := range rule(files(t)) {
			t.Error(complaint)
		}
	}
}

func TestMigrationRulesBite(t *testing.T) {
	const again = "CREATE TABLE b (id TEXT);\nINSERT INTO b SELECT id\nFROM a;\nDROP TABLE a;\nALTER TABLE b RENAME TO a;\n"
	const locks = "LOCK TABLE c, a IN ACCESS EXCLUSIVE MODE;\n"
	for _, c := range []struct {
		name string
		rule func(map[string]string) []string
		text string
		want int
	}{
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n" + again, 1},
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n" + locks + again, 0},
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n" + again + locks, 1},
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n-- " + locks + again, 1},
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n" + locks + again + "\n-- +goose Down\n" + again, 1},
		{"0020_a.sql", copiedTablesAreLocked, "-- +goose Up\n-- +goose Down\nDROP TABLE a;\n", 0},
		{"0032_a.sql", migrationsSayWhatTheyServe, "-- +goose Up\n", 0},
		{"0040_a.sql", migrationsSayWhatTheyServe, "-- +goose Up\n", 1},
		{"0040_a.sql", migrationsSayWhatTheyServe, "-- kobo: serves 39\n-- +goose Up\n", 0},
		{"0040_a.sql", migrationsSayWhatTheyServe, "-- kobo: serves 41\n-- +goose Up\n", 1},
		{"0040_a.sql", longMovesAreJobs, "-- +goose Up\nUPDATE a SET b = 1;\n", 1},
		{"0040_a.sql", longMovesAreJobs, "-- +goose Up\nCREATE TABLE a (id TEXT);\n-- +goose Down\nDELETE FROM b;\n", 0},
		{"0040_a.sql", claimsAreWhole, "-- +goose Up\nCREATE TABLE a (id TEXT, at BIGINT, PRIMARY KEY (id, at))\n  PARTITION BY RANGE (at);\n", 1},
		{"0040_a.sql", claimsAreWhole, "-- +goose Up\nCREATE TABLE a_2030 PARTITION OF a FOR VALUES FROM (0) TO (1);\n", 1},
		{"0040_a.sql", claimsAreWhole, "-- +goose Up\n-- no PARTITION BY\nCREATE TABLE a (id TEXT);\n", 0},
		{"0031_a.sql", longMovesAreJobs, "-- +goose Up\nUPDATE a SET b = 1;\n", 0},
	} {
		if got := c.rule(map[string]string{c.name: c.text}); len(got) != c.want {
			t.Errorf("%s %q: %q", c.name, c.text, got)
		}
	}
}
