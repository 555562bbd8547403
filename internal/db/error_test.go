package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kobo-waas/kobo/internal/fault"
)

func state(code string) error { return fmt.Errorf("somewhere: %w", &pgconn.PgError{Code: code}) }

// The error code decides the Trouble of an error, and the Trouble decides the kind of fault.
func TestClassify(t *testing.T) {
	timeout := &net.OpError{Op: "read", Err: errors.New("i/o timeout")}
	for _, c := range []struct {
		err     error
		trouble Trouble
		kind    fault.Kind
	}{
		{state("23505"), Duplicate, fault.Internal},
		{state("23514"), Broken, fault.Internal},
		{state("23503"), Broken, fault.Internal},
		{state("40001"), Transient, fault.Unavailable},
		{state("40P01"), Transient, fault.Unavailable},
		{state("25006"), Unwritable, fault.Unavailable},
		{state("53100"), Unwritable, fault.Unavailable},
		{state("25P03"), Away, fault.Unavailable},
		{state("57P01"), Away, fault.Unavailable},
		{state("57P03"), Away, fault.Unavailable},
		{state("53300"), Away, fault.Unavailable},
		{state("08006"), Away, fault.Unavailable},
		{state("58030"), Away, fault.Unavailable},
		{state("42601"), Other, fault.Internal},
		{state("22012"), Other, fault.Internal},
		{io.EOF, Away, fault.Unavailable},
		{io.ErrUnexpectedEOF, Away, fault.Unavailable},
		{driver.ErrBadConn, Away, fault.Unavailable},
		{net.ErrClosed, Away, fault.Unavailable},
		{timeout, Away, fault.Unavailable},
		{fmt.Errorf("receive message failed: %w", errFormer), Away, fault.Unavailable},
		{fmt.Errorf("receive message failed: %w", errDoubted), Away, fault.Unavailable},
		{context.Canceled, Other, fault.Internal},
		{errors.New("anything"), Other, fault.Internal},
		{fmt.Errorf("%w: %w", ErrUncommitted, io.EOF), Uncommitted, fault.Unknown},
	} {
		if got := Classify(c.err); got != c.trouble {
			t.Errorf("%v is trouble %d, want %d", c.err, got, c.trouble)
		}
		if got := fault.Of(explain(c.err)).Kind; got != c.kind {
			t.Errorf("%v is %s to the caller, want %s", c.err, got, c.kind)
		}
		if !errors.Is(explain(c.err), c.err) {
			t.Errorf("%v loses its cause", c.err)
		}
	}
	if explain(nil) != nil || Classify(nil) != Other {
		t.Error("no error is some trouble")
	}
}

func TestSQLiteCodes(t *testing.T) {
	for code, want := range map[int]Trouble{
		2067: Duplicate, 1555: Duplicate, 275: Broken, 787: Broken, 5: Transient, 6: Transient, 517: Transient,
		13: Unwritable, 8: Unwritable, 1032: Unwritable, 10: Unwritable, 778: Unwritable, 14: Away, 26: Away, 1: Other,
	} {
		if got := classifySQLite(code); got != want {
			t.Errorf("code %d is trouble %d, want %d", code, got, want)
		}
	}
}

// A refused COMMIT was not carried out. A COMMIT may have been carried out if it got no reply, or
// if it failed with an internal error of the server.
func TestOnlyAnAnswerMakesACommitDefinite(t *testing.T) {
	fatal := &pgconn.PgError{Code: "25P04", SeverityUnlocalized: "FATAL"}
	for _, c := range []struct {
		err              error
		alone, statement bool // whether a separate COMMIT, or an SQL statement before it, was refused
	}{
		{pgx.ErrTxCommitRollback, true, false},
		{state("40001"), true, true},
		{state("23505"), true, true},
		{state("22012"), false, true},
		{state("57014"), false, true},
		{state("57P01"), false, false},
		{state("53100"), false, false},
		{state("58030"), false, false},
		{state("08006"), false, false},
		{state("XX000"), false, false},
		{fatal, false, false},
		{io.EOF, false, false},
		{context.DeadlineExceeded, false, false},
		{errWarned, false, false},
	} {
		if got := refusedCommit(c.err); got != c.alone {
			t.Errorf("%v at a COMMIT: refused %v, want %v", c.err, got, c.alone)
		}
		if got := refusedStatement(c.err); got != c.statement {
			t.Errorf("%v before a COMMIT: refused %v, want %v", c.err, got, c.statement)
		}
	}
}

func TestStatementsAreTranslatedForSQLite(t *testing.T) {
	for query, want := range map[string]string{
		`SELECT 1 FROM t WHERE a = ANY($2) AND b = ANY($1)`: `SELECT 1 FROM t WHERE a IN (SELECT value FROM json_each($2)) AND b IN (SELECT value FROM json_each($1))`,
		"SELECT 1 FROM t\n\t\tFOR UPDATE":                   "SELECT 1 FROM t",
		`SELECT 1`:                                          `SELECT 1`,
	} {
		if got := forSQLite(query); got != want {
			t.Errorf("%q became %q", query, got)
		}
	}
	given := []any{"a", []string{`x"y`}, []int64{1, 2}, int64(3)}
	got, err := argsForSQLite(given)
	if err != nil || fmt.Sprint(got) != `[a ["x\"y"] [1,2] 3]` {
		t.Errorf("arguments: %v, %v", got, err)
	}
	if _, untouched := given[1].([]string); !untouched {
		t.Error("the caller's own list was changed")
	}
	if got := numbered(3, 3); got != "$3, $4, $5" {
		t.Errorf("numbered: %s", got)
	}
}
