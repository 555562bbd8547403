package job_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/job"
)

// explaining is a Querier that records the plans of all queries.
type explaining struct {
	db.Querier
	with  string // the words before the query
	plans []string
}

func (e *explaining) Query(ctx context.Context, query string, args ...any) (db.Rows, error) {
	rows, err := e.Querier.Query(ctx, e.with+query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var line string
		var number int64
		to := []any{&line}
		if strings.Contains(e.with, "QUERY PLAN") { // SQLite's plan has three numbers before its text
			to = []any{&number, &number, &number, &line}
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		e.plans = append(e.plans, line)
	}
	rows.Close()
	return e.Querier.Query(ctx, query, args...)
}

// A worker looks at a long list by its index, even if the statistics are those of an almost empty
// list.
func TestALookReadsAnIndex(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		dbtest.OneServer(t, o.db)
		o.ask("ask", "bank", 3)
		if o.db.Dialect() == db.Postgres { // Kobo gathers no statistics in SQLite
			if _, err := o.db.Exec(t.Context(), "ANALYZE job"); err != nil {
				t.Fatal(err)
			}
		}
		var rows []db.Record
		for i := range 20_000 {
			rows = append(rows, job.Job{Kind: "later", Subject: fmt.Sprint(i), Provider: "bank", RunAt: o.clock.Now().Add(time.Hour)}.For(o.company))
		}
		if err := o.db.Insert(t.Context(), rows...); err != nil {
			t.Fatal(err)
		}
		e := &explaining{with: "EXPLAIN "}
		if o.db.Dialect() == db.SQLite {
			e.with = "EXPLAIN QUERY PLAN "
		}
		err := o.db.Ordered(t.Context(), func(q db.Querier) error {
			e.Querier = q
			return job.Look(t.Context(), e, "ask/bank", o.clock.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, line := range e.plans {
			// Both indexes begin with the queue, so both lead to the next queue at once. They cost nearly the same.
			if strings.Contains(line, "job_lane") || strings.Contains(line, "job_turn") {
				read++
			}
			if strings.Contains(line, "Seq Scan on job") || strings.Contains(line, "SCAN job") && !strings.Contains(line, "USING") {
				t.Errorf("reads the whole list: %s", line)
			}
		}
		if read < 3 {
			t.Errorf("only %d reads of the index:\n%s", read, strings.Join(e.plans, "\n"))
		}
	})
}

// A worker finds the companies in turn, and the jobs of each, by an index of their own. So the time of a look
// does not depend on how many jobs a company has.
func TestATurnReadsAnIndex(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		dbtest.OneServer(t, o.db)
		o.ask("ask", "bank", 3)
		if o.db.Dialect() == db.Postgres { // Kobo gathers no statistics in SQLite
			if _, err := o.db.Exec(t.Context(), "ANALYZE job"); err != nil {
				t.Fatal(err)
			}
		}
		e := &explaining{with: "EXPLAIN "}
		if o.db.Dialect() == db.SQLite {
			e.with = "EXPLAIN QUERY PLAN "
		}
		err := o.db.Ordered(t.Context(), func(q db.Querier) error {
			e.Querier = q
			return job.LookInTurn(t.Context(), e, o.company, "ask/bank", o.clock.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, line := range e.plans {
			if strings.Contains(line, "job_turn") {
				read++
			} else if strings.Contains(line, " on job") || strings.Contains(line, " job ") {
				t.Errorf("reads another way: %s", line)
			}
		}
		if read < 4 {
			t.Errorf("only %d reads of the index:\n%s", read, strings.Join(e.plans, "\n"))
		}
	})
}
