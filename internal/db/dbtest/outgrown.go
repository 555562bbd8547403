package dbtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kobo-waas/kobo/internal/db"
)

// outgrownRows is how many rows each table of an outgrown database has at most.
const outgrownRows = 3_000

// someValues are values of columns that queries and indexes compare with constants.
var someValues = map[string][]string{
	"state": {"PENDING", "SUCCESS", "FAILED", "OPEN", "ACTIVE", "DONE", "DELETED"},
	"kind":  {"vtu", "payout", "card", "events", "retries", "deposit", "payout.success"},
}

// Outgrown returns the URL of a database whose tables have outgrown their statistics. The engine
// gathered its statistics when each table had 60 rows of one company. Autovacuum gathers none before a
// table has about that many. Since then the tables have grown, except the small ones. The rows have no meaning. A SQLite database of Kobo has no
// statistics, and its planner does not look at the rows, so its tables stay empty.
func Outgrown(t testing.TB, dialect db.Dialect, small func(table string) bool) (url string) {
	t.Helper()
	url = URL(t, dialect)
	if dialect == db.SQLite {
		return url
	}
	d := Open(t, url)
	exec := func(statement string) {
		t.Helper()
		if _, err := d.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
	}
	for _, rule := range list(t, d, `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
		FROM pg_constraint WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace`) {
		exec(rule)
	}
	tables := list(t, d, `SELECT table_name::text FROM information_schema.tables
		WHERE table_schema = 'public' AND table_name NOT LIKE 'goose_%'`)
	for _, table := range tables {
		exec("ALTER TABLE " + table + " SET (autovacuum_enabled = off)")
		exec(multiply(t, d, table, 1, 60, 1))
	}
	exec("ANALYZE")
	for _, table := range tables {
		if !small(table) {
			exec(multiply(t, d, table, 61, outgrownRows, 50))
		}
	}
	return url
}

// multiply returns an SQL statement that inserts rows with the numbers from first to last, of a
// number of companies. A row that exists is left out.
func multiply(t testing.TB, d *db.DB, table string, first, last, companies int) string {
	t.Helper()
	columns := list(t, d, `SELECT column_name || ' ' || data_type FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = '`+table+`' ORDER BY ordinal_position`)
	unique := len(list(t, d, `SELECT indexrelid::regclass::text FROM pg_index
		WHERE indrelid = '`+table+`'::regclass AND indisprimary AND indnatts = 1`)) > 0
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		names[i] = name
		switch some := someValues[name]; {
		case kind == "bigint":
			values[i] = "g"
		case name == "company_id" && !unique:
			values[i] = fmt.Sprintf("'company' || CAST(g %% %d AS TEXT)", companies)
		case some != nil:
			values[i] = fmt.Sprintf("CASE g %% %d", len(some)+1)
			for n, value := range some {
				values[i] += fmt.Sprintf(" WHEN %d THEN '%s'", n, value)
			}
			values[i] += " ELSE 'other' END"
		default:
			values[i] = fmt.Sprintf("'%s' || CAST(g AS TEXT)", name)
		}
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM generate_series(%d, %d) AS g ON CONFLICT DO NOTHING`,
		table, strings.Join(names, ", "), strings.Join(values, ", "), first, last)
}

func list(t testing.TB, d *db.DB, query string) []string {
	t.Helper()
	out, err := db.All(t.Context(), d, db.Value[string], query)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Scans returns a function that asks the engine for the plan of an SQL statement. The function
// returns a sentence for each part of the plan that reads a whole table, or all rows of a company.
func Scans(t testing.TB, url string) func(statement string) []string {
	t.Helper()
	if _, lite := db.SQLitePath(url); lite {
		return liteScans(t, url)
	}
	return postgresScans(t, url)
}

var (
	namedInQuery = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE|INTO)\s+([a-z_]+)(?:\s+AS\s+([a-z_]+))?`)
	liteScan     = regexp.MustCompile(`^SCAN ([a-z_]+)`)
)

func liteScans(t testing.TB, url string) func(string) []string {
	d := Open(t, url)
	tables := list(t, d, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	return func(statement string) (found []string) {
		values, err := liteZeros(statement)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := db.All(t.Context(), d, func(r db.Scanner) (string, error) {
			var id, parent, unused int64
			var detail string
			return detail, r.Scan(&id, &parent, &unused, &detail)
		}, "EXPLAIN QUERY PLAN "+statement, values...)
		if err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
		called := map[string]string{}
		for _, m := range namedInQuery.FindAllStringSubmatch(statement, -1) {
			if slices.Contains(tables, m[1]) {
				called[m[1]], called[m[2]] = m[1], m[1]
			}
		}
		for _, detail := range plan {
			if m := liteScan.FindStringSubmatch(detail); m != nil && called[m[1]] != "" {
				found = append(found, "reads all of "+called[m[1]])
			}
		}
		return found
	}
}

// node is a part of a PostgreSQL plan.
type node struct {
	Type    string `json:"Node Type"`
	Table   string `json:"Relation Name"`
	Alias   string
	Index   string `json:"Index Name"`
	Cond    string `json:"Index Cond"`
	Recheck string `json:"Recheck Cond"`
	Filter  string
	Join    string `json:"Join Filter"`
	Plans   []node
}

// postgresScans returns the sentences of Scans for PostgreSQL.
func postgresScans(t testing.TB, url string) func(string) []string {
	plan := planner(t, url)
	partial := list(t, Open(t, url), `SELECT indexrelid::regclass::text FROM pg_index WHERE indpred IS NOT NULL`)
	return func(statement string) []string { return plan(statement).scans(partial) }
}

// planner returns a function that asks PostgreSQL for a generic plan, with the settings of the
// program's connections. PostgreSQL reuses such a plan, whatever the values of the parameters are.
func planner(t testing.TB, url string) func(statement string) node {
	c, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_, err = c.Exec(t.Context(), `SET plan_cache_mode = force_generic_plan;
			SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`)
	}
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) }) // ignored, because the connection ends anyway
	return func(statement string) node {
		said, err := c.Prepare(t.Context(), "", statement)
		var plan []byte
		if err == nil {
			_, err = c.Exec(t.Context(), "PREPARE asked AS "+statement)
		}
		if err == nil {
			nothing := strings.TrimSuffix(strings.Repeat("NULL, ", len(said.ParamOIDs)), ", ")
			if nothing != "" {
				nothing = "(" + nothing + ")"
			}
			err = c.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE asked"+nothing).Scan(&plan)
		}
		if err == nil {
			_, err = c.Exec(t.Context(), "DEALLOCATE asked")
		}
		var plans []struct{ Plan node }
		if err == nil {
			err = json.Unmarshal(plan, &plans)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, statement)
		}
		return plans[0].Plan
	}
}

var comparedColumn = regexp.MustCompile(`\b([a-z_]+)(?:\)::[a-z]+)? (?:=|>|<|>=|<=|<>) `)

// scans returns a sentence for each scan in a plan. An index with a condition, such as that of open
// operations, holds only the rows that are wanted, so reading all of it is no scan.
func (n node) scans(partial []string) (found []string) {
	index := n.Index
	if n.Type == "Bitmap Heap Scan" && len(n.Plans) == 1 {
		index = n.Plans[0].Index
	}
	switch cond := n.Cond + n.Recheck; {
	case n.Type == "Seq Scan":
		found = append(found, "reads all of "+n.Table)
	case slices.Contains(partial, index):
	case n.Type == "Index Scan", n.Type == "Index Only Scan", n.Type == "Bitmap Heap Scan":
		by := comparedColumn.FindAllStringSubmatch(cond, -1)
		only := !slices.ContainsFunc(by, func(m []string) bool { return m[1] != "company_id" })
		if cond == "" {
			found = append(found, "reads a whole index of "+n.Table)
		} else if only && n.Filter != "" && strings.Contains(cond, "company_id") && !strings.Contains(cond, "ROW(") {
			found = append(found, "reads all rows of a company in "+n.Table)
		}
	}
	for _, p := range n.Plans {
		found = append(found, p.scans(partial)...)
	}
	return found
}
