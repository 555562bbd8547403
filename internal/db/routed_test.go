package db

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

var routedThing = &Table{
	Name: "routed_thing", Key: 3, Lenient: true,
	Columns: append(Texts("company_id", "kind", "id", "name"), Ints("n")...),
}

// queued returns the SQL statements of a round trip, with the number of their parameters.
func queued(add func(*pgx.Batch)) (list []string) {
	var b pgx.Batch
	add(&b)
	for _, q := range b.QueuedQueries {
		list = append(list, fmt.Sprintf("%s %d", q.SQL, len(q.Arguments)))
	}
	return list
}

// Each routed SQL statement has one table. It has one company by value, but rows of companies with one shard are
// inserted together. A statement has no join, no WITH and no subquery, and an array only in "= ANY", and never in
// a query that locks rows.
func TestRoutedStatementsNameOneTableAndTheCompanies(t *testing.T) {
	keys := [][]any{{"c2", "a", "1"}, {"c1", "b", "2"}, {"c1", "a", "1"}, {"c1", "a", "1"}}
	rows := [][]any{{"c2", "a", "1", "", int64(1)}}
	for i := range 70 {
		rows = append(rows, []any{"c1", "a", fmt.Sprint(i), "", int64(i)})
	}
	found := func([]any) error { return nil }
	undivided, halves := &postgres{}, &postgres{}
	halves.nodes.where.Store(&[]shard{{last: -1}, {last: math.MaxInt32}})
	by := routedThing.KeyNames()
	for name, c := range map[string]struct {
		add  func(*pgx.Batch)
		want []string
	}{
		"look-up": {
			func(b *pgx.Batch) {
				routeLookup(b, Lookup{Table: routedThing, By: by, Columns: []string{"n"}, Keys: keys, Found: found, Present: "name"})
			},
			[]string{
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 AND name <> '' 3`,
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = ANY($2) AND id = ANY($3) AND name <> '' 3`,
			},
		},
		"look-up of keys with one kind": {
			func(b *pgx.Batch) {
				routeLookup(b, Lookup{Table: routedThing, By: by, Columns: []string{"n"}, Keys: keys[2:3], Found: found})
				routeLookup(b, Lookup{Table: routedThing, By: by, Columns: []string{"n"}, Keys: [][]any{{"c1", "a", "1"}, {"c1", "a", "2"}}, Found: found})
			},
			[]string{
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 3`,
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = ANY($3) 3`,
			},
		},
		"lock": {
			func(b *pgx.Batch) {
				routeLookup(b, Lookup{Table: routedThing, By: by, Columns: []string{"n"}, Keys: keys, Found: found, Lock: true, Free: true})
			},
			[]string{
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 FOR UPDATE SKIP LOCKED 3`,
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 FOR UPDATE SKIP LOCKED 3`,
				`SELECT company_id, kind, id, n FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 FOR UPDATE SKIP LOCKED 3`,
			},
		},
		"insert": {
			func(b *pgx.Batch) { undivided.routeWrite(b, Write{Table: routedThing, Rows: rows}) },
			[]string{
				insertedBy(64), insertedBy(4), insertedBy(3),
			},
		},
		"insert into two shards": { // only the hashes of c3 and c4 are negative
			func(b *pgx.Batch) {
				var rows [][]any
				for _, company := range []string{"c0", "c3", "c1", "c4"} {
					rows = append(rows, []any{company, "a", "1", "", int64(1)}, []any{company, "a", "2", "", int64(2)})
				}
				halves.routeWrite(b, Write{Table: routedThing, Rows: rows})
			},
			[]string{insertedBy(4), insertedBy(4)},
		},
		"update": {
			func(b *pgx.Batch) {
				undivided.routeWrite(b, Write{Table: routedThing, By: by, Set: []string{"name", "n"}, Rows: rows[:2]})
			},
			[]string{
				`UPDATE routed_thing SET name = $4, n = $5 WHERE company_id = $1 AND kind = $2 AND id = $3 5`,
				`UPDATE routed_thing SET name = $4, n = $5 WHERE company_id = $1 AND kind = $2 AND id = $3 5`,
			},
		},
		"update of several rows of a company": {
			func(b *pgx.Batch) {
				undivided.routeWrite(b, Write{Table: routedThing, By: by[:2], Set: []string{"name", "n"}, Rows: [][]any{
					{"c1", "a", "x", int64(1)}, {"c2", "a", "x", int64(1)}, {"c1", "b", "y", int64(2)},
				}})
			},
			[]string{
				`UPDATE routed_thing SET name = CASE WHEN kind = $2 THEN $4::text WHEN kind = $3 THEN $5::text END, ` +
					`n = CASE WHEN kind = $2 THEN $6::bigint WHEN kind = $3 THEN $7::bigint END WHERE company_id = $1 AND kind IN ($2, $3) 7`,
				`UPDATE routed_thing SET name = $3, n = $4 WHERE company_id = $1 AND kind = $2 4`,
			},
		},
		"update that compares": {
			func(b *pgx.Batch) {
				undivided.routeWrite(b, Write{Table: routedThing, By: by, Set: []string{"n"}, Still: []string{"name"}, Rows: [][]any{{"c1", "a", "1", int64(2)}}, Was: [][]any{{"old"}}})
			},
			[]string{`UPDATE routed_thing SET n = $4 WHERE company_id = $1 AND kind = $2 AND id = $3 AND name = $5 5`},
		},
		"delete": {
			func(b *pgx.Batch) {
				undivided.routeWrite(b, Write{Table: routedThing, Delete: true, By: by, Rows: keys[:2]})
			},
			[]string{
				`DELETE FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 3`,
				`DELETE FROM routed_thing WHERE company_id = $1 AND kind = $2 AND id = $3 3`,
			},
		},
		"delete by one more column": {
			func(b *pgx.Batch) {
				undivided.routeWrite(b, Write{Table: routedThing, Delete: true, By: by[:2], Rows: [][]any{{"c1", "a"}, {"c2", "a"}, {"c1", "b"}}})
			},
			[]string{
				`DELETE FROM routed_thing WHERE company_id = $1 AND kind = ANY($2) 2`,
				`DELETE FROM routed_thing WHERE company_id = $1 AND kind = $2 2`,
			},
		},
	} {
		got := queued(c.add)
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		for _, statement := range got {
			if forbidden.MatchString(statement[1:]) {
				t.Errorf("%s: %s", name, statement)
			}
		}
	}
}

var forbidden = regexp.MustCompile(`(?i)\b(JOIN|WITH|unnest|SELECT|USING|RETURNING)\b|\bANY\(.*FOR UPDATE`)

// insertedBy returns the SQL statement that inserts n rows.
func insertedBy(n int) string {
	parts := []string{}
	for i := range n {
		parts = append(parts, fmt.Sprintf("($%d, $%d, $%d, $%d, $%d)", 5*i+1, 5*i+2, 5*i+3, 5*i+4, 5*i+5))
	}
	return "INSERT INTO routed_thing (company_id, kind, id, name, n) VALUES " + strings.Join(parts, ", ") + fmt.Sprintf(" ON CONFLICT DO NOTHING %d", 5*n)
}

// Rows are locked in the order of their keys, each once. Two programs that lock the same rows in
// different orders could wait for each other.
func TestRoutedLocksAreInOrder(t *testing.T) {
	got := fmt.Sprint(inOrder([][]any{{"b", int64(2)}, {"a", int64(10)}, {"b", int64(1)}, {"a", int64(9)}, {"b", int64(2)}}))
	if got != "[[a 9] [a 10] [b 1] [b 2]]" {
		t.Error(got)
	}
}
