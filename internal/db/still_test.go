package db_test

import (
	"context"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// A routed batch that compares what it has read writes nothing after another program has changed the row,
// as if the row had moved to another node without its lock.
func TestABatchComparesWhatItHasRead(t *testing.T) {
	d := dbtest.OpenWith(t, dbtest.URL(t, db.Postgres), db.Pools{Routed: true})
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
	exec(t, d, insert, "c1", "a", "name", int64(1))
	change := func(rival bool) error {
		return d.Run(t.Context(), func(p db.Pipeline) error {
			if err := p.Read(t.Context()); err != nil {
				return err
			}
			if rival {
				exec(t, d, `UPDATE db_thing SET n = 5 WHERE company_id = 'c1' AND id = 'a'`)
			}
			return commitStill(t.Context(), p)
		})
	}
	if err := change(true); err == nil {
		t.Error("the batch overwrote the change of another program")
	}
	if got := things(t, d, "c1"); got != "[a=5]" {
		t.Errorf("%q", got)
	}
	exec(t, d, `UPDATE db_thing SET n = 1 WHERE company_id = 'c1' AND id = 'a'`)
	if err := change(false); err != nil {
		t.Error(err)
	}
	if got := things(t, d, "c1"); got != "[a=2]" {
		t.Errorf("%q", got)
	}
}

// commitStill sets n from 1 to 2, and inserts a row.
func commitStill(ctx context.Context, p db.Pipeline) error {
	return p.Commit(ctx, db.Write{
		Table: thing, By: []string{"company_id", "id"}, Set: []string{"n"}, Rows: [][]any{{"c1", "a", int64(2)}},
		Still: []string{"n"}, Was: [][]any{{int64(1)}},
	})
}
