package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Trouble is what an error of the database means for the one who gets it.
type Trouble int8

// The kinds of trouble. Errors are told apart by SQLSTATE and by SQLite's
// result code, never by text or constraint name.
const (
	Other       Trouble = iota // a mistake in a statement, or the caller gave up
	Duplicate                  // a unique key exists already
	Broken                     // a check or a foreign key says no
	Transient                  // nothing happened; the whole transaction may be tried again
	Away                       // no connection
	Unwritable                 // the disk is full, or the database is read-only
	Uncommitted                // COMMIT was sent and no answer came: it may have happened
)

// ErrUncommitted is in the chain of an error after which nobody knows whether
// the transaction was committed.
var ErrUncommitted = errors.New("db: no answer to COMMIT")

// Classify tells what kind of trouble err is.
func Classify(err error) Trouble {
	if errors.Is(err, ErrUncommitted) {
		return Uncommitted
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return classifyState(pg.Code)
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return classifySQLite(lite.Code())
	}
	var connect *pgconn.ConnectError
	var netErr net.Error
	switch {
	case errors.As(err, &connect):
		return Away
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Other
	case errors.As(err, &netErr), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, net.ErrClosed), errors.Is(err, sql.ErrConnDone), errors.Is(err, errCrowded),
		pgconn.SafeToRetry(err):
		return Away
	}
	return Other
}

// classifyState reads a SQLSTATE (PostgreSQL, appendix A).
func classifyState(code string) Trouble {
	switch code {
	case "23505":
		return Duplicate
	case "23514", "23503", "23502":
		return Broken
	case "40001", "40P01", "55P03":
		return Transient
	case "25006", "53100":
		return Unwritable
	case "57P01", "57P02", "57P03", "53300":
		return Away
	}
	if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "58") {
		return Away
	}
	return Other
}

// classifySQLite reads an extended result code; its low byte is the family.
func classifySQLite(code int) Trouble {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return Duplicate
	}
	switch code & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return Broken
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return Transient
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM:
		return Unwritable
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return Away
	}
	return Other
}

// explain gives an error its kind for the rest of the house. Nothing was done
// when it says Unavailable.
func explain(err error) error {
	if err == nil {
		return nil
	}
	switch Classify(err) {
	case Away, Unwritable, Transient:
		return fault.New(fault.Unavailable, "Service temporarily unavailable").Because(err)
	case Uncommitted:
		return fault.New(fault.Unknown, "Service temporarily unavailable").Because(err)
	}
	return err
}
