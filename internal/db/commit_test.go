package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
)

// briefly returns a context with a short deadline.
func briefly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// ways contains the three ways to commit a row.
var ways = map[string]func(ctx context.Context, d *db.DB, values ...any) error{
	"transaction": func(ctx context.Context, d *db.DB, values ...any) error {
		return d.Tx(ctx, func(q db.Querier) error {
			_, err := q.Exec(ctx, insert, values...)
			return err
		})
	},
	"statement": func(ctx context.Context, d *db.DB, values ...any) error {
		_, err := d.Exec(ctx, insert, values...)
		return err
	},
	"pipeline": func(ctx context.Context, d *db.DB, values ...any) error {
		return d.Run(ctx, func(p db.Pipeline) error {
			if err := p.Read(ctx); err != nil {
				return err
			}
			return p.Commit(ctx, db.Write{Table: thing, Rows: [][]any{values}})
		})
	},
}

// A server that waits for its standby would commit without the standby if a client requested to
// cancel the COMMIT. So a program that gives up does not request to cancel the COMMIT. The server
// continues to wait, and the program gets ErrUncommitted.
func TestACommitIsNeverCancelled(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
	server.Desert()
	waiting := int64(0)
	for name, write := range ways {
		program := dbtest.Open(t, server.URL)
		if err := write(briefly(t), program, row("c1", name, 1)...); !errors.Is(err, db.ErrUncommitted) || !fault.Is(err, fault.Unknown) {
			t.Errorf("a %s: %v", name, err)
		}
		program.Close() // waits until its connections have ended
		if waiting++; server.Waiting() != waiting {
			t.Errorf("a %s: %d of %d wait for the standby", name, server.Waiting(), waiting)
		}
	}
	if got := things(t, d, "c1"); got != "[]" {
		t.Errorf("committed without the standby: %s", got)
	}
	server.Rejoin()
	if got := things(t, d, "c1"); got != "[pipeline=1 statement=1 transaction=1]" {
		t.Errorf("committed with the standby: %s", got)
	}
}

// If an operator cancels the wait, the server commits without its standby and sends a warning. A
// COMMIT with this warning counts as unanswered, so the caller gets ErrUncommitted.
func TestACommitWithAWarningIsNoAnswer(t *testing.T) {
	server := dbtest.NewLone(t)
	d := dbtest.Open(t, server.URL)
	exec(t, d, `CREATE TABLE db_thing (company_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
		n BIGINT NOT NULL CHECK (n >= 0), PRIMARY KEY (company_id, id))`)
	server.Desert()
	for name, write := range ways {
		told := make(chan error, 1)
		go func() { told <- write(context.Background(), d, row("c1", name, 1)...) }()
		server.Cancel()
		if err := <-told; !errors.Is(err, db.ErrUncommitted) {
			t.Errorf("a %s: %v", name, err)
		}
	}
	server.Rejoin()
	for name, write := range ways {
		if err := write(t.Context(), d, row("c2", name, 1)...); err != nil {
			t.Errorf("later, a %s: %v", name, err)
		}
	}
}

// If the connection is lost before the COMMIT is sent, nothing was committed, and the error is
// Unavailable.
func TestACommitThatIsNotSentDidNotHappen(t *testing.T) {
	d := dbtest.New(t, db.Postgres)
	err := d.Tx(t.Context(), func(q db.Querier) error {
		if _, err := q.Exec(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`); err == nil {
			t.Error("the connection is still there")
		}
		return nil
	})
	if errors.Is(err, db.ErrUncommitted) || !fault.Is(err, fault.Unavailable) {
		t.Errorf("told %v", err)
	}
}
