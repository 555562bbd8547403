package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

var thing = &db.Table{
	Name: "db_thing", Key: 2, State: "name",
	Columns: append(db.Texts("company_id", "id", "name"), db.Ints("n")...),
}

func row(company, id string, n int) []any { return []any{company, id, "name", int64(n)} }

// write runs a pipeline that only writes.
func write(t *testing.T, d *db.DB, writes ...db.Write) error {
	t.Helper()
	return d.Run(t.Context(), func(p db.Pipeline) error {
		if err := p.Read(t.Context()); err != nil {
			return err
		}
		return p.Commit(t.Context(), writes...)
	})
}

// A pipeline writes a set of rows of any size completely, although SQLite inserts sixteen rows at a
// time.
func TestSetsOfEverySizeAreWritten(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for _, n := range []int{0, 1, 15, 16, 17, 33, 300} {
			company := fmt.Sprint("size ", n)
			rows := make([][]any, n)
			for i := range rows {
				rows[i] = row(company, fmt.Sprintf("%03d", i), i)
			}
			if err := write(t, d, db.Write{Table: thing, Rows: rows}); err != nil {
				t.Fatalf("%d rows: %v", n, err)
			}
			got, err := db.One(t.Context(), d, db.Value[int64], `SELECT count(*) FROM db_thing WHERE company_id = $1`, company)
			if err != nil || got != int64(n) {
				t.Errorf("%d rows: %d, %v", n, got, err)
			}
		}
	})
}

func TestALookupReadsWhatItNames(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if err := write(t, d, db.Write{Table: thing, Rows: [][]any{row("c1", "a", 1), row("c1", "b", 2), row("c2", "a", 3)}}); err != nil {
			t.Fatal(err)
		}
		var found []string
		look := db.Lookup{
			Table: thing, By: thing.KeyNames(), Columns: []string{"n", "name"}, Lock: true, Present: "name",
			Keys:  [][]any{{"c2", "a"}, {"c1", "b"}, {"c1", "nobody"}},
			Found: func(row []any) error { found = append(found, fmt.Sprint(row...)); return nil },
		}
		err := d.Run(t.Context(), func(p db.Pipeline) error {
			defer p.Rollback()
			return p.Read(t.Context(), look, db.Lookup{Table: thing, By: thing.KeyNames()})
		})
		all := strings.Join(found, ",")
		if err != nil || len(found) != 2 || !strings.Contains(all, "c1b2 name") && !strings.Contains(all, "c1b2name") {
			t.Errorf("found %q, %v", found, err)
		}
		no := errors.New("not this one")
		look.Found = func([]any) error { return no }
		err = d.Run(t.Context(), func(p db.Pipeline) error { return p.Read(t.Context(), look) })
		if !errors.Is(err, no) {
			t.Errorf("an error of the reader's: %v", err)
		}
		// The failed pipeline has returned its connection.
		if err := write(t, d, db.Write{Table: thing, Rows: [][]any{row("c3", "a", 1)}}); err != nil {
			t.Error(err)
		}
	})
}

// One wrong write undoes all writes of its pipeline, those before it and those after it.
func TestAPipelineIsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		before := db.Write{Table: thing, Rows: [][]any{row("c1", "a", 1)}}
		if err := write(t, d, before); err != nil {
			t.Fatal(err)
		}
		update := func(keys ...string) db.Write {
			w := db.Write{Table: thing, By: thing.KeyNames(), Set: []string{"n", "name"}}
			for _, k := range keys {
				w.Rows = append(w.Rows, []any{"c1", k, int64(7), "new"})
			}
			return w
		}
		fresh := db.Write{Table: thing, Rows: [][]any{row("c1", "b", 2), row("c1", "c", 3)}}
		for name, writes := range map[string][]db.Write{
			"an update of nothing":           {fresh, update("missing")},
			"an update of one that is there": {fresh, update("a", "missing")},
			"a key that is there":            {update("a"), fresh, before},
			"a check that says no":           {fresh, {Table: thing, Rows: [][]any{row("c1", "d", -1)}}},
			"an update that breaks a check":  {fresh, {Table: thing, By: thing.KeyNames(), Set: []string{"n"}, Rows: [][]any{{"c1", "a", int64(-1)}}}},
		} {
			err := write(t, d, writes...)
			mayHaveMoved := d.IsDivided() && strings.HasPrefix(name, "an update of") // a row that is missing may be on its way to another node
			if err == nil || errors.Is(err, db.ErrUncommitted) || fault.Is(err, fault.Unavailable) != mayHaveMoved {
				t.Errorf("%s: %v", name, err)
			}
			if got := things(t, d, "c1"); got != "[a=1]" {
				t.Errorf("%s left %s", name, got)
			}
		}
		if err := write(t, d, fresh, update("a", "c")); err != nil {
			t.Error(err)
		}
		if got := things(t, d, "c1"); got != "[a=7 b=2 c=7]" {
			t.Errorf("in the end: %s", got)
		}
	})
}

// A write with Delete deletes the rows with the given values. Rows that do not exist are ignored.
func TestRowsAreDeletedByTheirValues(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if err := write(t, d, db.Write{Table: thing, Rows: [][]any{row("c1", "a", 1), row("c1", "b", 2), row("c2", "a", 3)}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			by   []string
			rows [][]any
			left string
		}{
			{[]string{"company_id", "id", "n"}, [][]any{{"c1", "a", int64(7)}, {"c1", "missing", int64(1)}}, "[a=1 b=2]"},
			{thing.KeyNames(), [][]any{{"c1", "a"}, {"c1", "a"}, {"c1", "missing"}}, "[b=2]"},
		} {
			if err := write(t, d, db.Write{Table: thing, Delete: true, By: c.by, Rows: c.rows}); err != nil {
				t.Fatal(err)
			}
			if got := things(t, d, "c1"); got != c.left {
				t.Errorf("by %v: left %s, not %s", c.by, got, c.left)
			}
		}
		if got := things(t, d, "c2"); got != "[a=3]" {
			t.Errorf("the other company has %s", got)
		}
	})
}

// A look-up with Free leaves out the rows that another transaction has locked, and does not wait.
func TestALookupLeavesOutLockedRows(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if d.Dialect() == db.SQLite {
			return // SQLite has one writer at a time
		}
		if err := write(t, d, db.Write{Table: thing, Rows: [][]any{row("c1", "a", 1), row("c1", "b", 2)}}); err != nil {
			t.Fatal(err)
		}
		look := func(found *string, free bool, ids ...string) db.Lookup {
			l := db.Lookup{Table: thing, By: thing.KeyNames(), Columns: []string{"n"}, Lock: true, Free: free}
			for _, id := range ids {
				l.Keys = append(l.Keys, []any{"c1", id})
			}
			l.Found = func(row []any) error { *found += fmt.Sprint(row[1]); return nil }
			return l
		}
		var first, second string
		err := d.Run(t.Context(), func(p db.Pipeline) error {
			defer p.Rollback()
			if err := p.Read(t.Context(), look(&first, false, "a")); err != nil {
				return err
			}
			return d.Run(t.Context(), func(p db.Pipeline) error {
				defer p.Rollback()
				return p.Read(t.Context(), look(&second, true, "a", "b"))
			})
		})
		if err != nil || first != "a" || second != "b" {
			t.Errorf("the first look-up found %s, the second %s, %v", first, second, err)
		}
	})
}

// A table with Lenient keeps its existing row when a row with the same primary key is inserted.
func TestALenientTableKeepsWhatItHas(t *testing.T) {
	lenient := &db.Table{Name: "db_note", Key: 1, Lenient: true, Columns: append(db.Texts("id"), db.Ints("n")...)}
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `CREATE TABLE db_note (id TEXT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (id))`)
		for n := range int64(2) {
			if err := write(t, d, db.Write{Table: lenient, Rows: [][]any{{"a", n}, {fmt.Sprint("b", n), n}}}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := db.All(t.Context(), d, db.Value[int64], `SELECT n FROM db_note ORDER BY id`)
		if err != nil || fmt.Sprint(got) != "[0 0 1]" {
			t.Errorf("left: %v, %v", got, err)
		}
	})
}

// Insert inserts the rows of several tables in one transaction. The rows may be in any order.
func TestRowsOfSeveralTablesAreInserted(t *testing.T) {
	remark := &db.Table{Name: "db_remark", Key: 1, Columns: append(db.Texts("id"), db.Ints("n")...)}
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `CREATE TABLE db_remark (id TEXT NOT NULL, n BIGINT NOT NULL, PRIMARY KEY (id))`)
		records := []db.Record{
			{Table: thing, Values: row("mixed", "a", 1)}, {Table: remark, Values: []any{"a", int64(1)}}, {Table: thing, Values: row("mixed", "b", 2)},
		}
		count := func() (n int64) {
			n, err := db.One(t.Context(), d, db.Value[int64],
				`SELECT (SELECT count(*) FROM db_thing WHERE company_id = 'mixed') * 10 + (SELECT count(*) FROM db_remark)`)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err := d.Insert(t.Context(), records[0], records[1], records[1]); err == nil || count() != 0 {
			t.Errorf("with a row that is there twice: %v, left %d", err, count())
		}
		if err := d.Insert(t.Context(), records...); err != nil || count() != 21 {
			t.Errorf("rows of two tables: %v, left %d", err, count())
		}
		if err := d.Insert(t.Context()); err != nil || count() != 21 {
			t.Errorf("no rows: %v, left %d", err, count())
		}
	})
}

func TestATableKnowsItsColumns(t *testing.T) {
	if thing.Index("n") != 3 || thing.Index("none") != -1 || fmt.Sprint(thing.UniqueNames()) != "[company_id id]" {
		t.Errorf("columns: %d %v", thing.Index("n"), thing.UniqueNames())
	}
	other := db.Table{Columns: thing.Columns, Key: 2, Unique: []string{"company_id", "name"}}
	if fmt.Sprint(other.UniqueNames()) != "[company_id name]" || fmt.Sprint(other.KeyNames()) != "[company_id id]" {
		t.Errorf("columns: %v %v", other.UniqueNames(), other.KeyNames())
	}
	if v := (db.Record{Table: thing, Values: row("c", "i", 5)}).Value("n"); v != int64(5) {
		t.Errorf("value: %v", v)
	}
}

// A connection discards the plan for a small table after the table has grown. The first part of the
// test shows why this is necessary: the old plan reads the whole index.
func TestAPlanDoesNotOutliveItsTable(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL, PRIMARY KEY (company_id, id)) WITH (autovacuum_enabled = false)`)
	exec(t, d, insert, "c1", "0", "name", int64(0))
	exec(t, d, `VACUUM ANALYZE db_thing`)
	stats := &db.Table{Name: "pg_stat_xact_user_tables", Columns: append(db.Texts("relname"), db.Ints("idx_tup_fetch")...)}
	count := func(into *int64) db.Lookup {
		return db.Lookup{
			Table: stats, By: []string{"relname"}, Columns: []string{"idx_tup_fetch"}, Keys: [][]any{{"db_thing"}},
			Found: func(row []any) error { *into = row[1].(int64); return nil },
		}
	}
	// fetched returns the number of rows that one look-up by the key reads from the index.
	fetched := func() int64 {
		t.Helper()
		var before, after int64
		err := d.Run(t.Context(), func(p db.Pipeline) error {
			defer p.Rollback()
			return p.Read(t.Context(), count(&before), db.Lookup{
				Table: thing, By: thing.KeyNames(), Columns: []string{"n"}, Keys: [][]any{{"c1", "0"}}, Found: func([]any) error { return nil },
			}, count(&after))
		})
		if err != nil {
			t.Fatal(err)
		}
		return after - before
	}
	fetched()
	exec(t, d, `INSERT INTO db_thing SELECT 'c1', i::text, 'name', i FROM generate_series(1, 50000) AS i`)
	if n := fetched(); n < 50000 {
		t.Logf("this server looks rows up one by one in a table of one row too: %d", n)
	}
	db.ReplanAtOnce(d)
	if n := fetched(); n > 1 {
		t.Errorf("%d rows were read to find one", n)
	}
}

var lane = &db.Table{Name: "db_lane", Key: 3, Columns: append(db.Texts("company_id", "kind", "id"), db.Ints("n")...)}

// A look-up by several columns finds only the rows that have one of the keys, and not a row whose
// columns have the values of different keys. It gives each key its own row.
func TestALookupFindsNoMixedKey(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, `CREATE TABLE db_lane (company_id TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, n BIGINT NOT NULL,
			PRIMARY KEY (company_id, kind, id))`)
		var rows [][]any
		for i, key := range []string{"c1 a 1", "c1 a 2", "c1 b 1", "c1 b 2", "c2 a 1", "c2 b 2"} {
			part := strings.Fields(key)
			rows = append(rows, []any{part[0], part[1], part[2], int64(i)})
		}
		if err := write(t, d, db.Write{Table: lane, Rows: rows}); err != nil {
			t.Fatal(err)
		}
		for _, lock := range []bool{false, true} {
			found := map[string]bool{}
			err := d.Run(t.Context(), func(p db.Pipeline) error {
				defer p.Rollback()
				return p.Read(t.Context(), db.Lookup{
					Table: lane, By: lane.KeyNames(), Columns: []string{"n"}, Lock: lock,
					Keys:  [][]any{{"c1", "a", "1"}, {"c1", "b", "2"}, {"c2", "a", "1"}, {"c2", "b", "1"}},
					Found: func(row []any) error { found[fmt.Sprint(row...)] = true; return nil },
				})
			})
			if len(found) != 3 || !found["c1a10"] || !found["c1b23"] || !found["c2a14"] || err != nil {
				t.Errorf("locked %v: found %v, %v", lock, found, err)
			}
		}
	})
}

// An update whose row does not exist ends the transaction, and none of its writes is kept.
func TestAnUpdateWithoutItsRowWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if err := write(t, d, db.Write{Table: thing, Rows: [][]any{row("c1", "a", 1)}}); err != nil {
			t.Fatal(err)
		}
		err := write(t, d,
			db.Write{Table: thing, Rows: [][]any{row("c1", "b", 1)}},
			db.Write{Table: thing, By: thing.KeyNames(), Set: []string{"n"}, Rows: [][]any{{"c1", "a", int64(5)}, {"c1", "nobody", int64(5)}}})
		if got := things(t, d, "c1"); err == nil || errors.Is(err, db.ErrUncommitted) || got != "[a=1]" {
			t.Errorf("%v, and the table has %s", err, got)
		}
		if err := write(t, d, db.Write{Table: thing, Delete: true, By: thing.KeyNames(), Rows: [][]any{{"c1", "nobody"}, {"c2", "a"}, {"c1", "a"}}}); err != nil {
			t.Error(err)
		}
		if got := things(t, d, "c1"); got != "[]" {
			t.Errorf("after the removal: %s", got)
		}
	})
}
