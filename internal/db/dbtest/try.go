package dbtest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/kobo-waas/kobo/internal/db"
)

// Trier returns a function that prepares an SQL statement, runs it with zero values and rolls it
// back. The function returns errors about the schema and ignores errors about the values. A NOT
// NULL column without a value is an error about the schema.
func Trier(t testing.TB, url string) func(statement string) error {
	t.Helper()
	if _, lite := db.SQLitePath(url); lite {
		return liteTrier(t, url)
	}
	return postgresTrier(t, url)
}

// errUndone makes Tx roll back the transaction in which an SQL statement was tried.
var errUndone = errors.New("undone")

var (
	parameter = regexp.MustCompile(`\$(\d+)`)
	listed    = regexp.MustCompile(`= ANY\(\$(\d+)\)`)
)

// liteTrier does the work of Trier for SQLite. It passes 0 for every parameter, and SQLite converts
// the 0 to the type of the column.
func liteTrier(t testing.TB, url string) func(string) error {
	d := Open(t, url)
	return func(statement string) error {
		values, err := liteZeros(statement)
		if err == nil {
			err = d.Prepare(t.Context(), statement)
		}
		if err != nil {
			return err
		}
		err = d.Tx(t.Context(), func(q db.Querier) error {
			if _, err := q.Exec(t.Context(), statement, values...); err != nil {
				return err
			}
			return errUndone
		})
		about := db.Classify(err)
		if errors.Is(err, errUndone) || about == db.Duplicate || about == db.Broken && !strings.Contains(err.Error(), "NOT NULL") {
			return nil
		}
		return err
	}
}

// liteZeros returns zeros, one for each parameter of an SQL statement.
func liteZeros(statement string) ([]any, error) {
	zeros := map[int]any{}
	for _, m := range parameter.FindAllStringSubmatch(statement, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		zeros[n] = int64(0)
	}
	for _, m := range listed.FindAllStringSubmatch(statement, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		zeros[n] = []int64{0}
	}
	for range strings.Count(statement, "?") { // a statement has either numbered parameters or these
		zeros[len(zeros)+1] = int64(0)
	}
	values := make([]any, len(zeros))
	for i := range values {
		values[i] = zeros[i+1]
	}
	return values, nil
}

// zeros contains the zero values of the parameters' types.
var zeros = map[uint32]any{
	pgtype.Int8OID: int64(0), pgtype.Int4OID: int32(0), pgtype.BoolOID: false, pgtype.Int8ArrayOID: []int64{0},
	pgtype.TextArrayOID: []string{""}, pgtype.TextOID: "",
}

func postgresTrier(t testing.TB, url string) func(string) error {
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) }) // ignored, because the connection ends anyway
	return func(statement string) error {
		tx, err := c.Begin(t.Context())
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(t.Context()) }() // ignored; a failed rollback makes the next SQL statement fail too
		described, err := tx.Prepare(t.Context(), "", statement)
		if err != nil {
			return err
		}
		values := make([]any, len(described.ParamOIDs))
		for i, oid := range described.ParamOIDs {
			value, known := zeros[oid]
			if !known {
				return fmt.Errorf("parameter %d has the type %d", i+1, oid)
			}
			values[i] = value
		}
		_, err = tx.Exec(t.Context(), statement, values...)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && (pg.Code[:2] == "22" || pg.Code[:2] == "23") && pg.Code != "23502" {
			return nil
		}
		return err
	}
}
