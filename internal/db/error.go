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

// Trouble is the type of a database error, as far as it matters to the caller.
type Trouble int8

// These are the types of trouble. Classify reads the SQLSTATE or SQLite's result code. It never
// reads a text or the name of a constraint.
const (
	Other       Trouble = iota // the SQL statement is wrong, or the caller gave up
	Duplicate                  // a row with this unique key exists
	Broken                     // a CHECK or a foreign key refused the row
	Transient                  // nothing was committed; the whole transaction may be repeated
	Away                       // there is no connection to the database
	Unwritable                 // the disk is full, or the database is read-only
	Uncommitted                // COMMIT was sent and got no reply, so it may have been carried out
)

// ErrUncommitted is in the chain of an error if it is unknown whether the transaction was
// committed.
var ErrUncommitted = errors.New("db: no answer to COMMIT")

// Classify returns the type of trouble that err means.
func Classify(err error) Trouble {
	if errors.Is(err, ErrUncommitted) {
		return Uncommitted
	}
	if errors.Is(err, errMoved) {
		return Transient
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
		errors.Is(err, errFormer), errors.Is(err, errDoubted),
		pgconn.SafeToRetry(err):
		return Away
	}
	return Other
}

// classifyState returns the type of trouble of a SQLSTATE (PostgreSQL, appendix A).
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
	case "25P03", "57P01", "57P02", "57P03", "53300": // 25P03 ends a connection that was idle in a transaction (endIdle)
		return Away
	}
	if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "58") {
		return Away
	}
	return Other
}

// classifySQLite returns the type of trouble of an extended result code. The low byte of the code
// is the general result code.
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

// explain turns an error into a fault if its type of trouble matters to other packages. If the
// fault has the kind Unavailable, nothing was done.
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
